#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "report/validation.h"

namespace kvsim::report {
namespace {

constexpr double side = 640, margin = 70;  // pixels
constexpr double cell = 3;                 // points are drawn on a grid of this pitch
constexpr std::array<const char*, 8> colours{"#1b6ca8", "#d1495b", "#2e8540", "#8a4fbe",
                                             "#c77700", "#00798c", "#6b705c", "#a23e48"};

struct Axis {
  double low = 0, high = 1;  // log10
  double pixel(double value) const { return side * (std::log10(value) - low) / (high - low); }
};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

Axis axis_of(const calibrate::Validation& v) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const calibrate::Point& p : v.points)
    for (const double x : {p.measured, p.predicted})
      low = std::min(low, std::log10(x)), high = std::max(high, std::log10(x));
  if (low > high) return {};
  return {std::floor(low), std::max(std::ceil(high), std::floor(low) + 1)};
}

std::string grid(const Axis& a) {
  std::string out;
  for (double e = a.low; e <= a.high; ++e) {
    const double at = side * (e - a.low) / (a.high - a.low);
    out += fmt::format(
        "<path class=\"g\" d=\"M{0:.0f} 0V{1:.0f}M0 {2:.0f}H{1:.0f}\"/>"
        "<text x=\"{0:.0f}\" y=\"{3:.0f}\" text-anchor=\"middle\">1e{4:.0f}</text>"
        "<text x=\"-8\" y=\"{5:.0f}\" text-anchor=\"end\">1e{4:.0f}</text>\n",
        at, side, side - at, side + 18, e, side - at + 4);
  }
  return out;
}

// A line predicted = factor x measured.
std::string line(const Axis& a, double factor, const char* name) {
  const double shift = side * std::log10(factor) / (a.high - a.low);
  return fmt::format("<path class=\"{}\" d=\"M0 {:.1f}L{:.0f} {:.1f}\"/>\n", name, side - shift,
                     side, -shift);
}

}  // namespace

std::string validation_svg(const calibrate::Validation& v) {
  const Axis a = axis_of(v);
  std::map<std::string, std::set<std::pair<int, int>>> dots;  // by kernel, on the grid
  for (const calibrate::Point& p : v.points)
    dots[v.groups[p.group].kernel].insert({static_cast<int>(a.pixel(p.measured) / cell),
                                           static_cast<int>(a.pixel(p.predicted) / cell)});
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {0:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n"
      "<style>.g{{stroke:#ddd;fill:none}}.e{{stroke:#222;fill:none}}"
      ".o{{stroke:#222;stroke-dasharray:4 4;fill:none}}</style>\n"
      "<rect width=\"{0:.0f}\" height=\"{0:.0f}\" fill=\"#fff\"/>\n"
      "<svg x=\"{1:.0f}\" y=\"20\" width=\"{2:.0f}\" height=\"{2:.0f}\" overflow=\"visible\">\n",
      side + 1.6 * margin, margin, side);
  out += grid(a);
  std::size_t k = 0;
  for (const auto& [kernel, places] : dots) {
    const char* colour = colours[k % colours.size()];
    out += fmt::format(
        "<path stroke=\"{}\" stroke-width=\"{}\" stroke-linecap=\"round\" "
        "fill=\"none\" opacity=\"0.6\" d=\"",
        colour, cell);
    for (const auto& [x, y] : places)
      out += fmt::format("M{:.0f} {:.0f}h0", (x + 0.5) * cell, side - (y + 0.5) * cell);
    out += fmt::format("\"/>\n<text x=\"10\" y=\"{}\" fill=\"{}\">{}</text>\n",
                       18 + 16 * static_cast<int>(k), colour, escaped(kernel));
    ++k;
  }
  out += line(a, 1, "e") + line(a, 1.2, "o") + line(a, 1 / 1.2, "o");
  return out + fmt::format(
                   "<text x=\"{0:.0f}\" y=\"{1:.0f}\" text-anchor=\"middle\">measured "
                   "(seconds, or tokens per second)</text>"
                   "<text transform=\"translate(-48 {0:.0f}) rotate(-90)\" "
                   "text-anchor=\"middle\">predicted ({2})</text>\n</svg>\n</svg>\n",
                   side / 2, side + 38, escaped(v.source));
}

}  // namespace kvsim::report
