#include "scenario/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <mutex>
#include <thread>

#include "scenario/intervals.h"
#include "scenario/run.h"
#include "units/parse.h"

namespace kvsim::scenario {
namespace {

constexpr double max_values = 100000;  // of one axis; a typing error otherwise

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// The values of one point; the last axis turns fastest.
std::vector<std::string> values_at(const std::vector<Axis>& axes, std::size_t index) {
  std::vector<std::string> values(axes.size());
  for (std::size_t i = axes.size(); i-- > 0;) {
    values[i] = axes[i].values[index % axes[i].values.size()];
    index /= axes[i].values.size();
  }
  return values;
}

}  // namespace

bool parse_axis(std::string_view text, Axis& axis, std::string& problem) {
  const auto equals = text.find('=');
  if (equals == 0 || equals == std::string_view::npos || equals + 1 == text.size()) {
    problem = fmt::format("\"{}\" is not path=values", text);
    return false;
  }
  axis.path = text.substr(0, equals);
  const std::string_view list = text.substr(equals + 1);
  const auto bounds = split(list, ':');
  if (bounds.size() == 3) {
    const auto low = parse_number(bounds[0]), high = parse_number(bounds[1]),
               step = parse_number(bounds[2]);
    if (low && high && step) {
      if (*step <= 0 || *high < *low || (*high - *low) / *step > max_values) {
        problem = fmt::format(
            "\"{}\": low:high:step needs low <= high, a positive step and at most {:.0f} values",
            list, max_values);
        return false;
      }
      const auto count = static_cast<std::int64_t>((*high - *low) / *step + 1e-9) + 1;
      for (std::int64_t i = 0; i < count; ++i)
        axis.values.push_back(fmt::format("{}", *low + static_cast<double>(i) * *step));
      return true;
    }
  }
  for (const std::string_view value : split(list, ',')) {
    if (value.empty()) {
      problem = fmt::format("\"{}\" has an empty value", list);
      return false;
    }
    axis.values.emplace_back(value);
  }
  return true;
}

std::size_t grid_size(const std::vector<Axis>& axes) {
  std::size_t size = 1;
  for (const Axis& axis : axes) size *= axis.values.size();
  return size;
}

std::vector<SweepPoint> sweep(const std::string& path, const spec::Catalog& catalog,
                              const std::vector<Axis>& axes, const SweepOptions& options) {
  const config::Document document = config::Document::load(path);
  const std::string folder = path == "-" ? "" : std::filesystem::path(path).parent_path().string();
  std::vector<SweepPoint> points;
  for (std::size_t i = options.shard; i < grid_size(axes); i += options.shards)
    points.push_back({i, values_at(axes, i), {}, {}});

  std::atomic<std::size_t> next{0};
  std::size_t done = 0;
  std::mutex progress;
  std::exception_ptr failure;  // anything but bad input ends the sweep
  const auto work = [&] {
    for (std::size_t at = next++; at < points.size(); at = next++) {
      if (options.stop && options.stop->load(std::memory_order_relaxed)) return;
      SweepPoint& point = points[at];
      std::vector<Override> overrides = options.overrides;
      for (std::size_t a = 0; a < axes.size(); ++a)
        overrides.push_back({axes[a].path, point.values[a]});
      try {
        RunOptions run_options;
        run_options.stop = options.stop;
        const IntervalOptions intervals{.ends = options.intervals ? Ends::on : Ends::off,
                                        .threads = 1};
        metrics::RunResult result = run_with_intervals(
            resolve(document, folder, catalog, overrides, options.seed), run_options, intervals);
        if (!result.complete) return;
        point.result = std::move(result);
      } catch (const InputError& error) {
        point.error = error.diagnostics().front().message;
      } catch (...) {
        const std::lock_guard lock(progress);
        failure = std::current_exception();
        next = points.size();
        return;
      }
      const std::lock_guard lock(progress);
      ++done;
      if (options.progress) options.progress(done, points.size());
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (int i = 1; i < options.jobs; ++i) helpers.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
  std::erase_if(points, [](const SweepPoint& p) { return !p.result && p.error.empty(); });
  return points;
}

}  // namespace kvsim::scenario
