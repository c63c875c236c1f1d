#include "memory/ledger.h"

#include "diag/check.h"

namespace kvsim::memory {

void Ledger::add(std::string line, Bytes bytes, std::string note, bool in_budget) {
  lines.push_back({std::move(line), bytes, std::move(note), in_budget});
}

void Ledger::check() const {
  Bytes sum;
  for (const LedgerLine& line : lines)
    if (line.in_budget) sum += line.bytes;
  KVSIM_CHECK(sum - shortfall == budget,
              "ledger adds up to {} bytes, the budget is {} and {} are missing", sum.value(),
              budget.value(), shortfall.value());
}

}  // namespace kvsim::memory
