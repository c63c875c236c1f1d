#include "memory/ledger.h"

#include <cmath>

#include "diag/check.h"

namespace kvsim::memory {

void Ledger::add(std::string line, Bytes bytes, std::string note, bool in_budget,
                 Bytes uncertainty) {
  lines.push_back({std::move(line), bytes, std::move(note), in_budget, uncertainty});
}

Bytes Ledger::kv_uncertainty() const {
  double squares = 0;
  for (const LedgerLine& line : lines) {
    const auto u = static_cast<double>(line.uncertainty.value());
    if (line.in_budget) squares += u * u;
  }
  return Bytes(static_cast<std::int64_t>(std::sqrt(squares)));
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
