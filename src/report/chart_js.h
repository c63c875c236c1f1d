#pragma once
#include <string_view>

namespace kvsim::report {

// The source of Chart.js, or empty if it was missing when kvsim was built.
std::string_view chart_js();

}  // namespace kvsim::report
