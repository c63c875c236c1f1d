#include "scenario/intervals.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "metrics/interval.h"
#include "units/format.h"

namespace kvsim::scenario {
namespace {

// Another simulation of the scenario.
struct Variant {
  std::optional<cost::End> end;             // of step times
  std::int64_t seeds_on = 0;                // added to the seed
  std::optional<metrics::Figures> figures;  // absent: not run, stopped, or refused
  std::string refusal;
};

bool constant_steps(const Resolved& scenario) {
  return std::ranges::all_of(scenario.pools, [](const ResolvedPool& pool) {
    return pool.config.cost.kind == engine::CostKind::constant;
  });
}

// A pipe can be read but once.
bool can_repeat(const Resolved& scenario) {
  const auto& trace = scenario.scenario.workload.trace;
  if (!trace) return true;
  const std::filesystem::path path = std::filesystem::path(scenario.folder) / trace->file;
  std::error_code problem;
  return trace->file != "-" && std::filesystem::is_regular_file(path, problem);
}

std::vector<Variant> variants(const Resolved& scenario, int seeds) {
  std::vector<Variant> out;
  if (!constant_steps(scenario))
    for (const cost::End end : {cost::End::high, cost::End::low}) out.push_back({end, 0, {}, {}});
  for (int i = 1; i < seeds; ++i) out.push_back({std::nullopt, i, {}, {}});
  return out;
}

// Seeds are not negative: after the largest one comes 0.
std::int64_t seed_after(std::int64_t seed, std::int64_t steps) {
  const auto sum = static_cast<std::uint64_t>(seed) + static_cast<std::uint64_t>(steps);
  return static_cast<std::int64_t>(
      sum & static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

void simulate(const Resolved& scenario, const RunOptions& how, Variant& variant) {
  RunOptions options = how;
  if (variant.end)
    options.with_cost = [end = *variant.end](const cost::CostModel& cost) {
      return cost::make_at_end(cost, end);
    };
  try {
    metrics::RunResult result;
    if (variant.seeds_on == 0) {
      result = run(scenario, options);
    } else {
      Resolved other = scenario;
      other.scenario.seed = seed_after(scenario.scenario.seed, variant.seeds_on);
      result = run(other, options);
    }
    if (result.complete) variant.figures = std::move(result.summary);
  } catch (const InputError& error) {
    variant.refusal = error.diagnostics().front().message;
  }
}

std::size_t helper_count(const IntervalOptions& intervals, std::size_t variants) {
  const int wanted = intervals.threads > 0
                         ? intervals.threads
                         : std::max(static_cast<int>(std::thread::hardware_concurrency()), 2);
  return std::min(static_cast<std::size_t>(wanted - 1), variants);
}

// Takes variants one by one; several threads may do so at once.
class Queue {
 public:
  // `stop`: the user's own, or null.
  Queue(const Resolved& scenario, std::vector<Variant>& variants, const std::atomic<bool>* stop)
      : scenario_(scenario), variants_(variants), user_stop_(stop) {}

  void work() {
    RunOptions how;
    how.stop = &stop_;
    how.progress = [this](std::int64_t, std::int64_t, Time) {
      if (user_stop_ && user_stop_->load(std::memory_order_relaxed)) stop_ = true;
    };
    try {
      for (std::size_t at = next_++; at < variants_.size() && !stop_; at = next_++)
        simulate(scenario_, how, variants_[at]);
    } catch (...) {
      if (!failed_.exchange(true)) failure_ = std::current_exception();
      stop_ = true;
    }
  }
  void stop() { stop_ = true; }
  // Once nobody works any more.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const Resolved& scenario_;
  std::vector<Variant>& variants_;
  const std::atomic<bool>* user_stop_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false}, failed_{false};
  std::exception_ptr failure_;
};

// From the runs to the ends; "" or why there are none.
std::string bound(metrics::RunResult& result, const std::vector<Variant>& variants, int seeds) {
  std::vector<metrics::Figures> ends, replicates;
  for (const Variant& v : variants) {
    if (!v.refusal.empty())
      return v.end
                 ? fmt::format("with step times at the {} end of their interval, {}",
                               *v.end == cost::End::low ? "low" : "high", v.refusal)
                 : fmt::format("with seed {}, {}", seed_after(result.seed, v.seeds_on), v.refusal);
    if (!v.figures) {
      // What was asked for, ends included, is not all there.
      result.complete = false;
      return "they were interrupted";
    }
    (v.end ? ends : replicates).push_back(*v.figures);
  }
  metrics::set_bounds(result.summary, ends, replicates);
  result.intervals = metrics::Intervals{metrics::interval_level, seeds};
  return {};
}

}  // namespace

metrics::RunResult run_with_intervals(const Resolved& scenario, const RunOptions& options,
                                      const IntervalOptions& intervals) {
  if (intervals.ends == Ends::off) return run(scenario, options);
  const workload::WorkloadSpec& workload = scenario.scenario.workload;
  const bool random = workload.generate || workload.arrival;
  const int seeds = random ? intervals.seeds : 1;
  std::vector<Variant> others = variants(scenario, seeds);
  std::string missing;
  if (!others.empty() && !can_repeat(scenario)) {
    missing = "the trace comes through a pipe and can be read but once";
    others.clear();
  }
  Queue queue(scenario, others, options.stop);
  metrics::RunResult result;
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 0; i < helper_count(intervals, others.size()); ++i)
      helpers.emplace_back([&] { queue.work(); });
    // Whatever ends the run as it is, the helpers end too.
    struct Stopper {
      Queue& queue;
      bool armed = true;
      ~Stopper() {
        if (armed) queue.stop();
      }
    } stopper{queue};
    RunOptions middle = options;
    bool long_run = false;
    middle.progress = [&](std::int64_t ended, std::int64_t expected, Time now) {
      if (intervals.ends == Ends::automatic && !others.empty() &&
          std::max(ended, expected) > intervals.most_requests) {
        long_run = true;
        queue.stop();
      }
      if (options.progress) options.progress(ended, expected, now);
    };
    result = run(scenario, middle);
    if (long_run)
      missing = fmt::format("more than {} requests; --intervals on simulates them all the same",
                            format_integer(intervals.most_requests));
    if (result.complete && missing.empty()) {
      stopper.armed = false;
      queue.work();
    }
  }
  queue.rethrow();
  if (!result.complete) return result;
  if (missing.empty()) missing = bound(result, others, seeds);
  if (!missing.empty()) result.warnings.push_back("no intervals: " + missing);
  if (!random && intervals.seeds > 1)
    result.warnings.push_back("nothing in the workload is random, so other seeds change nothing");
  return result;
}

}  // namespace kvsim::scenario
