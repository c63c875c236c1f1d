#pragma once
#include <span>

#include "kernels/bench/document.h"

namespace kvsim::kernels::bench {

// Whether the case is one that ceilings come from, and is timed before all others: streams of a
// gigabyte, large matrix products, the pointer chase.
bool is_ceiling_case(const CaseInfo& info);

// Fills in what follows from timed cases: bandwidths from the stream family's, the matrix rate from
// the best bf16 product, the latency of memory from the pointer chase. What no case gave stays
// absent.
void take_ceilings(std::span<const Result> results, Ceilings& out);

}  // namespace kvsim::kernels::bench
