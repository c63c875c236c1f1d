#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "planner/plan.h"

namespace kvsim::planner {

// What is asked beside the plan itself.
struct Questions {
  std::optional<LengthMix> lengths;
  std::vector<std::int64_t> streams;  // lengths in tokens
  std::vector<RoomAsk> room;
  std::vector<spec::GpuSpec> gpus;  // to advise when this one cannot do
};

// make_plan() and the answers to what people ask next: the lengths that start, what is usable in
// practice, the least that fits, and the questions. Sizes the deployment a few hundred times.
Plan answer(const Request& request, const Questions& questions = {});

}  // namespace kvsim::planner
