#pragma once
#include <string>
#include <string_view>

namespace kvsim::report {

// JSON text in two-space indentation, but a list of scalars stays on one line. Ends in a newline.
// Requires valid JSON.
std::string layout(std::string_view json);

}  // namespace kvsim::report
