#pragma once
#include <cstdint>

#include "kernels/simt/lane.h"

namespace kvsim::simt {

// The value of the lane that `source` names, seen from each lane of `mask`. Faults where that lane
// is not in the mask.
std::uint64_t shuffle(std::uint32_t mask, std::uint64_t value, unsigned source, Site site);

// Bit i: lane i of `mask` has a true predicate.
std::uint32_t ballot(std::uint32_t mask, bool predicate, Site site);

}  // namespace kvsim::simt
