#pragma once
#include <memory>

#include "engine/profile.h"

namespace kvsim::engine {

// SGLang's scheduler, radix cache and hierarchical cache, main of 2026-07-20: prefill before
// decode, one chunked request at a time, admission by an estimate of the outputs to come,
// retraction when it was too low. See docs/explanation/sglang.md.
std::unique_ptr<Profile> make_sglang(const SchedulerLimits& limits, RequestTable& requests);

}  // namespace kvsim::engine
