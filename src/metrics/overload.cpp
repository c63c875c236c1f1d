#include "metrics/overload.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <vector>

#include "units/format.h"

namespace kvsim::metrics {
namespace {

struct Point {
  double time_s, waiting, in_system;
};

// Slope of y over time by least squares; 0 for fewer than two points.
double slope(const std::vector<Point>& points, double Point::*y) {
  if (points.size() < 2) return 0;
  double mean_t = 0, mean_y = 0;
  for (const Point& p : points) mean_t += p.time_s, mean_y += p.*y;
  mean_t /= static_cast<double>(points.size());
  mean_y /= static_cast<double>(points.size());
  double up = 0, down = 0;
  for (const Point& p : points) {
    up += (p.time_s - mean_t) * (p.*y - mean_y);
    down += (p.time_s - mean_t) * (p.time_s - mean_t);
  }
  return down > 0 ? up / down : 0;
}

}  // namespace

std::optional<Overload> assess_overload(const StateSeries& series, Time first, Time last,
                                        std::int64_t arrivals) {
  const double window = to_seconds(last - first);
  if (arrivals < 20 || window <= 0) return std::nullopt;

  std::array<double, 4> sum{}, weight{};
  std::vector<Point> half;
  double at_last = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const double middle = (static_cast<double>(i) + 0.5) * to_seconds(series.width());
    const double place = (middle - to_seconds(first)) / window;
    if (place < 0 || place > 1) continue;
    const auto mean = series.mean(i);
    const auto quarter = std::min<std::size_t>(3, static_cast<std::size_t>(place * 4));
    sum[quarter] += mean[waiting];
    weight[quarter] += 1;
    at_last = mean[waiting];
    if (place >= 0.5) half.push_back({middle, mean[waiting], mean[waiting] + mean[running]});
  }
  for (const double w : weight) {
    if (w == 0) return std::nullopt;
  }

  Overload out;
  out.arrival_rate = static_cast<double>(arrivals - 1) / window;
  out.completion_rate = std::max(0.0, out.arrival_rate - slope(half, &Point::in_system));
  out.queue_growth_per_s = slope(half, &Point::waiting);
  out.waiting_at_last_arrival = at_last;
  const double second = sum[1] / weight[1], third = sum[2] / weight[2], fourth = sum[3] / weight[3];
  const double in_half = static_cast<double>(arrivals) / 2;
  out.overloaded = second < third && third < fourth && out.queue_growth_per_s > 0 &&
                   fourth - second >= std::max(0.01 * in_half, 3 * std::sqrt(in_half));
  if (out.overloaded) {
    out.sentence = fmt::format(
        "arrivals outrun service: {} requests/s arrive, {} complete, the queue grows by {} "
        "requests/s "
        "({} waiting at the last arrival). TTFT therefore depends on how long the trace is",
        format_significant(out.arrival_rate), format_significant(out.completion_rate),
        format_significant(out.queue_growth_per_s),
        format_count(std::round(out.waiting_at_last_arrival)));
  }
  return out;
}

}  // namespace kvsim::metrics
