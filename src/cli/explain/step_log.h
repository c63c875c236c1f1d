#pragma once
#include <span>

namespace kvsim::cli {

// The fields of a line of `run --steps`, in the order in which they are written.
struct StepLogField {
  const char* name;
  const char* profiles;  // those that write it: "all", or their names
  const char* unit;
  const char* meaning;
  const char* text;  // more of it; may be empty
};

std::span<const StepLogField> step_log_fields();

}  // namespace kvsim::cli
