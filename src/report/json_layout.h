#pragma once
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace kvsim::report {

// JSON text in two-space indentation, but a list of scalars stays on one line. Ends in a newline.
// Requires valid JSON.
std::string layout(std::string_view json);

// Whole numbers without a fraction, null for what is not finite. `Json` is nlohmann's.
template <typename Json>
Json json_number(double x) {
  if (!std::isfinite(x)) return nullptr;
  if (x == std::floor(x) && std::abs(x) < 9e15) return static_cast<std::int64_t>(x);
  return x;
}

}  // namespace kvsim::report
