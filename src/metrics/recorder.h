#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/gap_samples.h"
#include "metrics/overload.h"
#include "metrics/request_record.h"
#include "metrics/result.h"
#include "metrics/second_buckets.h"
#include "metrics/slo.h"

namespace kvsim::metrics {

struct RecorderOptions {
  std::vector<double> percentiles{50, 90, 95, 99};
  // Excluded from the summary: the first requests by index, and those that arrive before a time.
  std::int64_t warmup_requests = 0;
  Duration warmup{};
  Slo slo;
  std::vector<std::int64_t> engine_blocks{1};  // usable blocks of each engine
  bool keep_requests = false;                  // fills RunResult::requests
};

// Collects what a run's result says. One per simulation, shared by its engines.
//
// Warm-up goes by request: one that is not measured contributes no sample, token, gap, prefix or
// preemption count. The measured window starts at 0, or with a warm-up at the first measured
// arrival; evictions, peaks, means over time and the duration count from there. Callers learn from
// arrived() whether a request is measured, and pass on only what measured requests did to gap(),
// output_tokens(), prefix_lookup() and preempted().
//
// Engines are numbered over the whole cluster. Times passed to engine_state() do not decrease. The
// hot calls are inline, not virtual, and allocate only when a buffer doubles.
class Recorder {
 public:
  explicit Recorder(RecorderOptions options);

  // A request enters the system. Answers whether it is measured.
  bool arrived(std::int64_t index, Time arrival);
  void request_finished(const RequestRecord& record);
  // It will never be served (rejected, unservable).
  void request_failed(std::int64_t index, std::string_view id, Time arrival, Time at,
                      std::string_view reason);

  // `count` requests got a token `gap` after the one before.
  void gap(Duration gap, std::int64_t count) { gaps_.add(gap, count); }
  // `count` output tokens exist since `at`.
  void output_tokens(Time at, std::int64_t count) {
    if (count > 0) seconds_.tokens(at - first_measured_, count);
  }
  // An engine's state from `at` on, until it is set again: blocks held by requests, and requests.
  void engine_state(int engine, Time at, std::int64_t used_blocks, std::int64_t running,
                    std::int64_t waiting) {
    EngineState& s = engines_[static_cast<std::size_t>(engine)];
    if (at > since_) advance(at);
    used_ += used_blocks - s.used, running_ += running - s.running, waiting_ += waiting - s.waiting;
    s.weigh(at);
    s.used = used_blocks, s.running = running, s.waiting = waiting;
    if (at >= window_) {
      if (used_blocks > s.peak) s.peak = used_blocks;
      if (used_ > peak_used_) peak_used_ = used_;
    }
  }
  // A first admission looked up its prompt in the prefix index.
  void prefix_lookup(std::int64_t query_tokens, std::int64_t hit_tokens, std::int64_t full_blocks,
                     std::int64_t hit_blocks) {
    query_tokens_ += query_tokens, hit_tokens_ += hit_tokens;
    query_blocks_ += full_blocks, hit_blocks_ += hit_blocks;
  }
  // Of what an admission found, `tokens` were brought back from the host.
  void loaded_from_host(std::int64_t tokens) { host_hit_tokens_ += tokens; }
  void evicted(int engine, Time at, std::int64_t blocks) {
    if (at >= window_) engines_[static_cast<std::size_t>(engine)].evicted += blocks;
  }
  // A running request lost `tokens` computed tokens.
  void preempted(int engine, std::int64_t tokens) {
    ++engines_[static_cast<std::size_t>(engine)].preemptions;
    preempted_tokens_ += tokens;
  }

  // Fills summary, kv, series, failures, requests and, of engines[i] (which the caller has sized
  // and described), the figures that were recorded here. `now` is the time of the last event.
  void finish(RunResult& result, Time now);

  std::int64_t completed() const { return static_cast<std::int64_t>(ttft_.size()); }
  const GapSamples& gaps() const { return gaps_; }

 private:
  struct EngineState {
    std::int64_t blocks = 0;
    std::int64_t used = 0, running = 0, waiting = 0;
    std::int64_t peak = 0, evicted = 0, preemptions = 0, completed = 0;
    std::int64_t since = 0;                                    // ns
    double used_time = 0, running_time = 0, waiting_time = 0;  // value times ns
    void weigh(Time at) {
      const auto span = static_cast<double>(at.nanoseconds() - since);
      if (span <= 0) return;
      used_time += span * static_cast<double>(used);
      running_time += span * static_cast<double>(running);
      waiting_time += span * static_cast<double>(waiting);
      since = at.nanoseconds();
    }
  };
  bool measures(std::int64_t index, Time arrival) const {
    return index >= options_.warmup_requests && arrival.nanoseconds() >= options_.warmup.value();
  }
  bool has_warmup() const { return options_.warmup_requests > 0 || options_.warmup.value() > 0; }
  void advance(Time at);
  void open_window(Time at);
  void keep(const RequestRecord& record, bool measured, std::string_view failure);
  Summary summary(Time now);
  KvSummary kv(Time now) const;

  RecorderOptions options_;
  std::vector<EngineState> engines_;
  std::int64_t blocks_ = 0;
  std::int64_t used_ = 0, running_ = 0, waiting_ = 0, peak_used_ = 0;
  Time since_;
  double used_time_ = 0;
  StateSeries series_;

  Time window_;  // start of the measured window; the end of time until it is known
  std::int64_t arrivals_ = 0, measured_arrivals_ = 0;
  Time first_arrival_, last_arrival_, first_measured_, last_end_;

  std::vector<double> ttft_, tpot_, e2el_;  // ms
  Histogram ttft_s_, tpot_s_, e2e_s_, queue_s_, prefill_s_, decode_s_;
  GapSamples gaps_;
  SecondBuckets seconds_;
  std::int64_t failed_ = 0, good_ = 0, input_tokens_ = 0, output_tokens_ = 0;
  std::int64_t query_tokens_ = 0, hit_tokens_ = 0, query_blocks_ = 0, hit_blocks_ = 0;
  std::int64_t host_hit_tokens_ = 0;
  std::int64_t preempted_tokens_ = 0;
  std::vector<Failure> failures_;
  std::vector<RequestRow> rows_;
};

}  // namespace kvsim::metrics
