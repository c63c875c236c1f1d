#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kvsim::report {

struct Curve {
  std::string name;
  std::string color;  // CSS
  std::vector<double> values;
};

// Curves over time: values[i] is the mean from i to i+1 times `width_s`.
struct Plot {
  std::string title;
  std::string unit;
  double width_s = 0;
  double top = 0;  // of the vertical axis; 0 = the largest value
  std::vector<Curve> curves;
};

// The plot as an <svg> element that needs no script.
std::string svg(const Plot& plot);

// `text` with &, <, > and quotes escaped for HTML.
std::string html_text(std::string_view text);

}  // namespace kvsim::report
