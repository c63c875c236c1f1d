#pragma once
#include <span>
#include <string_view>

#include "conform/answer.h"
#include "engine/engine.h"

namespace kvsim::conform {

// The names that a recorded step may carry beside "step", in the order of the step log.
std::span<const std::string_view> step_fields();

// What kvsim's engine did in a step, under those names. Fields that its profile does not observe
// stay null.
void observe(const engine::StepSink::Step& step, Answers& got);

}  // namespace kvsim::conform
