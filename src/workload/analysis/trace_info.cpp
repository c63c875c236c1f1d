#include "workload/analysis/trace_info.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_set>

#include "workload/analysis/reuse_distance.h"
#include "workload/trace/writer.h"

namespace kvsim::workload {
namespace {

double percentile(const std::vector<std::int64_t>& sorted, double p) {
  const double place = p / 100 * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(place);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  const auto a = static_cast<double>(sorted[low]), b = static_cast<double>(sorted[high]);
  return a + (b - a) * (place - static_cast<double>(low));
}

// Gaps between arrivals and the fullest buckets, without keeping the arrivals.
class ArrivalMeter {
 public:
  void add(Time arrival) {
    const double t = to_seconds(arrival);
    if (count_ == 0)
      first_ = t;
    else {  // Welford
      const double gap = t - last_;
      const double delta = gap - mean_;
      mean_ += delta / static_cast<double>(count_);
      squares_ += delta * (gap - mean_);
    }
    ++count_;
    last_ = t;
    for (Bucket& b : buckets_) {
      const std::int64_t at = arrival.nanoseconds() / (b.seconds * ns_per_second);
      if (at != b.at) b.at = at, b.count = 0;
      b.most = std::max(b.most, ++b.count);
    }
  }
  TraceInfo::Arrivals result() const {
    TraceInfo::Arrivals a;
    a.span_s = last_ - first_;
    const auto gaps = static_cast<double>(count_ - 1);
    if (a.span_s > 0) a.rate = gaps / a.span_s;
    if (mean_ > 0) a.gap_cv = std::sqrt(squares_ / gaps) / mean_;
    const auto peak = [&](const Bucket& b) {
      return static_cast<double>(b.most) / static_cast<double>(b.seconds);
    };
    a.peak_1s = peak(buckets_[0]), a.peak_10s = peak(buckets_[1]), a.peak_60s = peak(buckets_[2]);
    return a;
  }
  bool any() const { return count_ > 0; }

 private:
  struct Bucket {
    std::int64_t seconds;
    std::int64_t at = -1, count = 0, most = 0;
  };
  Bucket buckets_[3] = {{1}, {10}, {60}};
  std::int64_t count_ = 0;
  double first_ = 0, last_ = 0, mean_ = 0, squares_ = 0;
};

// 1, 2, 5, 10, ... blocks below the number of distinct ones.
std::vector<std::int64_t> ladder(std::int64_t distinct) {
  std::vector<std::int64_t> steps;
  for (std::int64_t decade = 10; decade < distinct; decade *= 10)
    for (const std::int64_t step : {decade, 2 * decade, 5 * decade})
      if (step < distinct) steps.push_back(step);
  return steps;
}

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

LengthSummary summarise(std::vector<std::int64_t> values) {
  LengthSummary s;
  if (values.empty()) return s;
  std::ranges::sort(values);
  double sum = 0;
  for (const std::int64_t v : values) sum += static_cast<double>(v);
  s.mean = sum / static_cast<double>(values.size());
  s.p50 = percentile(values, 50), s.p90 = percentile(values, 90), s.p99 = percentile(values, 99);
  s.max = values.back();
  return s;
}

TraceInfo trace_info(RequestSource& given, const InfoOptions& options) {
  std::unique_ptr<RequestSource> placed;
  if (options.is_request_list) placed = without_followers(given);
  RequestSource& source = placed ? *placed : given;
  TraceInfo info;
  info.block_tokens = options.block_tokens;
  std::vector<std::int64_t> inputs, outputs;
  std::unordered_set<std::string> sessions;
  ArrivalMeter arrivals;
  ReuseDistances cache;
  std::vector<BlockKey> prompt, sequence;
  std::vector<Span> spans;
  std::int64_t found_tokens = 0, found_full = 0, full = 0;
  RequestSpec r;
  while (source.list(r)) {
    if (options.tick && inputs.size() % 4096 == 0) options.tick();
    const std::int64_t made = std::min(r.output_tokens, r.max_tokens);
    inputs.push_back(r.prompt_tokens), outputs.push_back(made);
    info.input_tokens += r.prompt_tokens, info.output_tokens += made;
    if (!r.session.empty()) sessions.insert(r.session);
    if (r.after >= 0)
      ++info.followers;
    else
      arrivals.add(r.arrival);

    block_keys(r.prompt, r.prefix_key(), options.block_tokens, prompt);
    info.blocks += static_cast<std::int64_t>(prompt.size());
    full += r.prompt_tokens / options.block_tokens;
    const std::int64_t found = cache.look_up(prompt).blocks;
    found_tokens += std::min(found * options.block_tokens, r.prompt_tokens);
    found_full += std::min(found, r.prompt_tokens / options.block_tokens);
    if (options.is_request_list) {
      spans = r.prompt;
      append_span(spans, {output_content(r.id), 0, made});
      block_keys(spans, r.prefix_key(), options.block_tokens, sequence);
      cache.touch(sequence);
    } else {
      cache.touch(prompt);
    }
  }
  info.requests = static_cast<std::int64_t>(inputs.size());
  info.sessions = static_cast<std::int64_t>(sessions.size());
  info.input = summarise(std::move(inputs)), info.output = summarise(std::move(outputs));
  if (options.has_times && arrivals.any()) info.arrivals = arrivals.result();
  info.distinct_blocks = cache.distinct();
  info.reuse = {ratio(cache.found_unlimited(), info.blocks), ratio(found_tokens, info.input_tokens),
                ratio(found_full, full)};
  const bool asked = !options.capacities.empty();
  for (const std::int64_t capacity : asked ? options.capacities : ladder(info.distinct_blocks)) {
    const std::int64_t found = cache.found(capacity);
    info.curve.push_back({capacity, ratio(found, info.blocks)});
    if (!asked && found == cache.found_unlimited()) break;
  }
  info.notes = source.notes();
  if (info.followers > 0)
    info.notes.push_back(
        fmt::format("{} requests follow others: when they arrive depends on the engine, so rates "
                    "and gaps count the rest",
                    info.followers));
  return info;
}

}  // namespace kvsim::workload
