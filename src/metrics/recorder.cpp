#include "metrics/recorder.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diag/check.h"

namespace kvsim::metrics {
namespace {

constexpr std::size_t named_failures = 20;
constexpr std::size_t plot_points = 128;

// Plots need no more than four decimals.
double rounded(double value) { return std::round(value * 1e4) / 1e4; }

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }
double ratio(std::int64_t part, std::int64_t whole) {
  return ratio(static_cast<double>(part), static_cast<double>(whole));
}

}  // namespace

Recorder::Recorder(RecorderOptions options)
    : options_(std::move(options)),
      engines_(options_.engine_blocks.size()),
      ttft_s_("time_to_first_token_seconds", ttft_edges()),
      tpot_s_("request_time_per_output_token_seconds", token_edges()),
      e2e_s_("e2e_request_latency_seconds", request_edges()),
      queue_s_("request_queue_time_seconds", request_edges()),
      prefill_s_("request_prefill_time_seconds", request_edges()),
      decode_s_("request_decode_time_seconds", request_edges()) {
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    engines_[i].blocks = options_.engine_blocks[i];
    blocks_ += engines_[i].blocks;
  }
  if (has_warmup()) window_ = Time(std::numeric_limits<std::int64_t>::max());
}

bool Recorder::arrived(std::int64_t index, Time arrival) {
  if (arrivals_++ == 0) first_arrival_ = arrival;
  last_arrival_ = std::max(last_arrival_, arrival);
  if (!measures(index, arrival)) return false;
  if (measured_arrivals_++ == 0) {
    first_measured_ = last_end_ = arrival;
    if (has_warmup()) open_window(arrival);
  }
  return true;
}

void Recorder::open_window(Time at) {
  if (at > since_) advance(at);
  window_ = at;
  used_time_ = 0;
  peak_used_ = used_;
  for (EngineState& engine : engines_) {
    engine.weigh(at);
    engine.used_time = engine.running_time = engine.waiting_time = 0;
    engine.peak = engine.used;
  }
}

void Recorder::advance(Time at) {
  const double share = ratio(used_, blocks_);
  series_.add(since_, at, {share, static_cast<double>(running_), static_cast<double>(waiting_)});
  used_time_ += share * static_cast<double>((at - since_).value());
  since_ = at;
}

void Recorder::request_finished(const RequestRecord& record) {
  const bool measured = measures(record.index, record.arrival);
  keep(record, measured, {});
  if (!measured) return;
  const Duration first = ttft(record), whole = e2e(record);
  const double per_token = metrics::tpot_ms(record);
  ttft_.push_back(to_ms(first));
  if (record.output_tokens > 1) tpot_.push_back(per_token);
  e2el_.push_back(to_ms(whole));

  ttft_s_.add(to_seconds(first));
  if (record.output_tokens > 1) tpot_s_.add(per_token / 1e3);
  e2e_s_.add(to_seconds(whole));
  queue_s_.add(to_seconds(record.first_scheduled - record.arrival));
  prefill_s_.add(to_seconds(record.first_token - record.first_scheduled));
  decode_s_.add(to_seconds(record.end - record.first_token));

  input_tokens_ += record.prompt_tokens;
  output_tokens_ += record.output_tokens;
  good_ += options_.slo.met_by(record) ? 1 : 0;
  seconds_.active(record.arrival - first_measured_, record.end - first_measured_);
  last_end_ = std::max(last_end_, record.end);
  ++engines_[static_cast<std::size_t>(record.engine)].completed;
}

void Recorder::request_failed(std::int64_t index, std::string_view id, Time arrival, Time at,
                              std::string_view reason) {
  const bool measured = measures(index, arrival);
  RequestRecord record;
  record.index = index;
  record.id = id;
  record.arrival = arrival;
  record.first_scheduled = record.first_token = record.end = at;
  keep(record, measured, reason);
  if (!measured) return;
  ++failed_;
  last_end_ = std::max(last_end_, at);
  if (failures_.size() < named_failures)
    failures_.push_back({std::string(id), std::string(reason)});
}

void Recorder::keep(const RequestRecord& r, bool measured, std::string_view failure) {
  if (!options_.keep_requests) return;
  RequestRow row;
  row.index = r.index;
  row.id = r.id;
  row.session = r.session;
  row.pool = r.pool;
  row.engine = r.engine;
  row.prompt_tokens = r.prompt_tokens;
  row.output_tokens = r.output_tokens;
  row.cached_tokens = r.cached_tokens;
  row.preemptions = r.preemptions;
  row.measured = measured;
  row.failure = failure;
  row.arrival = r.arrival;
  row.first_scheduled = r.first_scheduled;
  row.first_token = r.first_token;
  row.end = r.end;
  row.gaps.assign(r.gaps.begin(), r.gaps.end());
  rows_.push_back(std::move(row));
}

Summary Recorder::summary(Time now) {
  Summary s;
  s.completed = completed();
  s.failed = failed_;
  if (measured_arrivals_ > 0) s.duration = to_seconds(now - window_);
  s.total_input_tokens = input_tokens_;
  s.total_output_tokens = output_tokens_;
  s.request_throughput = ratio(static_cast<double>(s.completed), s.duration);
  if (options_.slo.given()) s.request_goodput = ratio(static_cast<double>(good_), s.duration);
  s.output_throughput = ratio(static_cast<double>(output_tokens_), s.duration);
  s.total_token_throughput = ratio(static_cast<double>(input_tokens_ + output_tokens_), s.duration);
  if (measured_arrivals_ > 1 && last_arrival_ > first_measured_) {
    s.offered_rate =
        static_cast<double>(measured_arrivals_ - 1) / to_seconds(last_arrival_ - first_measured_);
  }
  s.max_output_tokens_per_s = static_cast<double>(seconds_.max_tokens());
  s.max_concurrent_requests = seconds_.max_active();
  s.percentile_levels = options_.percentiles;
  s.ttft_ms = describe(ttft_, options_.percentiles);
  s.tpot_ms = describe(tpot_, options_.percentiles);
  s.itl_ms = gaps_.describe_ms(options_.percentiles);
  s.e2el_ms = describe(e2el_, options_.percentiles);
  return s;
}

KvSummary Recorder::kv(Time now) const {
  KvSummary kv;
  kv.total_blocks = blocks_;
  kv.peak_used_ratio = ratio(peak_used_, blocks_);
  if (now > window_) kv.mean_used_ratio = used_time_ / static_cast<double>((now - window_).value());
  kv.prefix_query_tokens = query_tokens_;
  kv.prefix_hit_tokens = hit_tokens_;
  kv.host_hit_tokens = host_hit_tokens_;
  kv.prefix_hit_rate_tokens = ratio(hit_tokens_, query_tokens_);
  kv.prefix_hit_rate_blocks = ratio(hit_blocks_, query_blocks_);
  for (const EngineState& engine : engines_) {
    kv.evicted_blocks += engine.evicted;
    kv.preemptions += engine.preemptions;
  }
  kv.preempted_tokens = preempted_tokens_;
  return kv;
}

void Recorder::finish(RunResult& result, Time now) {
  KVSIM_CHECK(result.engines.size() == engines_.size(), "{} engines described, {} recorded",
              result.engines.size(), engines_.size());
  if (now > since_) advance(now);
  result.summary = summary(result.complete ? last_end_ : now);
  result.kv = kv(now);
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    EngineState& from = engines_[i];
    EngineResult& to = result.engines[i];
    from.weigh(now);
    to.total_blocks = from.blocks;
    to.peak_used_ratio = ratio(from.peak, from.blocks);
    if (now > window_) {
      const auto span = static_cast<double>((now - window_).value());
      to.mean_used_ratio = ratio(from.used_time, span * static_cast<double>(from.blocks));
      to.mean_running = from.running_time / span;
      to.mean_waiting = from.waiting_time / span;
    }
    to.completed = from.completed;
    to.preemptions = from.preemptions;
    to.evicted_blocks = from.evicted;
  }
  result.verdict.overload = assess_overload(series_, first_arrival_, last_arrival_, arrivals_);
  series_.fit(plot_points);
  result.series = {};
  result.series.width_s = to_seconds(series_.width());
  for (std::size_t i = 0; i < series_.size(); ++i) {
    const auto mean = series_.mean(i);
    result.series.kv_used_ratio.push_back(rounded(mean[Channel::kv_used]));
    result.series.running.push_back(rounded(mean[Channel::running]));
    result.series.waiting.push_back(rounded(mean[Channel::waiting]));
  }
  Histogram itl("inter_token_latency_seconds", token_edges());
  gaps_.add_to(itl);
  result.histograms = {ttft_s_, std::move(itl), tpot_s_, e2e_s_, queue_s_, prefill_s_, decode_s_};
  result.failures = failures_;
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const RequestRow& a, const RequestRow& b) { return a.index < b.index; });
  result.requests = std::move(rows_);
}

}  // namespace kvsim::metrics
