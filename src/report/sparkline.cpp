#include "report/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kvsim::report {

std::vector<double> resample(std::span<const double> values, std::size_t columns) {
  if (values.size() <= columns) return {values.begin(), values.end()};
  std::vector<double> out(columns);
  const double step = static_cast<double>(values.size()) / static_cast<double>(columns);
  for (std::size_t i = 0; i < columns; ++i) {
    const double from = static_cast<double>(i) * step, to = from + step;
    double sum = 0;
    for (auto j = static_cast<std::size_t>(from); j < values.size() && static_cast<double>(j) < to;
         ++j) {
      const double begin = std::max(from, static_cast<double>(j));
      const double end = std::min(to, static_cast<double>(j + 1));
      sum += values[j] * (end - begin);
    }
    out[i] = sum / step;
  }
  return out;
}

std::string sparkline(std::span<const double> values, double top, Glyphs glyphs) {
  static constexpr std::array<const char*, 8> bars{"\u2581", "\u2582", "\u2583", "\u2584",
                                                   "\u2585", "\u2586", "\u2587", "\u2588"};
  static constexpr std::array<const char*, 8> letters{" ", ".", ":", "-", "=", "+", "*", "#"};
  if (top <= 0) {
    for (const double x : values) top = std::max(top, x);
  }
  std::string out;
  for (const double x : values) {
    const double height = top > 0 ? std::clamp(x / top, 0.0, 1.0) : 0;
    auto level = static_cast<std::size_t>(std::lround(height * 7 + 1e-9));
    if (glyphs == Glyphs::ascii && level == 0 && x > 0) level = 1;
    out += glyphs == Glyphs::unicode ? bars[level] : letters[level];
  }
  return out;
}

}  // namespace kvsim::report
