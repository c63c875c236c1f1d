#pragma once
#include <cstdint>
#include <memory>

#include "workload/generate/arrivals.h"
#include "workload/source.h"

namespace kvsim::workload {

// The requests of a source at other times: those that follow no other arrive as `arrival` says, the
// rest still follow. In a closed loop each client takes the next request of the list when its last
// one has ended and it has paused. `rescale` needs a source that knows its length (else
// InputError).
std::unique_ptr<RequestSource> retimed(std::unique_ptr<RequestSource> source,
                                       const ArrivalSpec& arrival, std::uint64_t seed);

}  // namespace kvsim::workload
