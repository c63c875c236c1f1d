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
  Bytes uncertainty;      // plus or minus, about one standard deviation; 0 = counted or given
};

// Invariant (asserted by check()): the lines in the budget add up to `budget`. KV is what remains;
// when nothing remains it is 0 and `shortfall` says how much is missing.
struct Ledger {
  Bytes total;   // what the driver reports
  Bytes budget;  // what the engine lets itself use
  Bytes weights, activation, non_torch, cuda_graphs, kv, state, reserve;
  Bytes shortfall;
  std::vector<LedgerLine> lines;
  // What the uncertain lines in the budget leave open about the KV: root of the sum of squares.
  Bytes kv_uncertainty() const;
  void add(std::string line, Bytes bytes, std::string note, bool in_budget = true,
           Bytes uncertainty = {});
  // A line outside the budget, where the engine keeps it elsewhere.
  void memo(std::string line, Bytes bytes, std::string note) {
    add(std::move(line), bytes, std::move(note), false);
  }
  void check() const;
};

}  // namespace kvsim::memory
