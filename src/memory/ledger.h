#pragma once
#include <string>
#include <vector>

#include "units/units.h"

// Where every byte of one GPU goes.
namespace kvsim::memory {

struct LedgerLine {
  std::string name;
  Bytes bytes;
  std::string note;       // where the figure comes from
  bool in_budget = true;  // false: allocated outside the engine's budget (graphs before vLLM 0.21)
};

// Invariant (asserted by check()): the lines in the budget add up to `budget`. KV is what remains;
// when nothing remains it is 0 and `shortfall` says how much is missing.
struct Ledger {
  Bytes total;   // what the driver reports
  Bytes budget;  // what the engine lets itself use
  Bytes weights, activation, non_torch, cuda_graphs, kv, state, reserve;
  Bytes shortfall;
  std::vector<LedgerLine> lines;
  void add(std::string line, Bytes bytes, std::string note, bool in_budget = true);
  void check() const;
};

}  // namespace kvsim::memory
