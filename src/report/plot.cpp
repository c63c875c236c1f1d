#include "report/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "units/format.h"

namespace kvsim::report {
namespace {

constexpr double left = 56, right = 12, top = 12, bottom = 40, width = 860, height = 240;

// The smallest of 1, 2, 5 times a power of ten that is at least x.
double round_up(double x) {
  if (x <= 0) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(x)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (step * power >= x) return step * power;
  }
  return 10 * power;
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string svg(const Plot& plot) {
  double most = plot.top;
  std::size_t points = 1;
  for (const Curve& curve : plot.curves) {
    points = std::max(points, curve.values.size());
    if (plot.top <= 0) {
      for (const double v : curve.values) most = std::max(most, v);
    }
  }
  most = plot.top > 0 ? plot.top : round_up(most);
  const double w = width - left - right, h = height - top - bottom;
  const double end_s = static_cast<double>(points) * plot.width_s;

  std::string out = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                                width, height, html_text(plot.title));
  for (const double part : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const double y = top + h * (1 - part), x = left + w * part;
    out += fmt::format(
        "<line x1=\"{}\" y1=\"{:.1f}\" x2=\"{}\" y2=\"{:.1f}\" class=\"grid\"/>"
        "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>",
        left, y, width - right, y, left - 6, y + 4, format_significant(most * part));
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x,
                       height - bottom + 16,
                       format_duration(to_duration(std::min(end_s * part, 9e9))));
  }
  double legend = left;
  for (const Curve& curve : plot.curves) {
    out += fmt::format("<polyline fill=\"none\" stroke=\"{}\" points=\"", curve.color);
    for (std::size_t i = 0; i < curve.values.size(); ++i) {
      const double x = left + w * (static_cast<double>(i) + 0.5) / static_cast<double>(points);
      out +=
          fmt::format("{:.1f},{:.1f} ", x, top + h * (1 - std::min(1.0, curve.values[i] / most)));
    }
    out += fmt::format("\"/><text x=\"{:.0f}\" y=\"{}\" fill=\"{}\">{}</text>\n", legend,
                       height - 6, curve.color, html_text(curve.name));
    legend += 12 + 7.5 * static_cast<double>(curve.name.size());
  }
  return out + "</svg>";
}

}  // namespace kvsim::report
