#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/version.h"
#include "metrics/distribution.h"
#include "metrics/histogram.h"
#include "metrics/overload.h"

// The result document of `run` (kvsim.run/1) as plain data. It holds no wall time, host or path.
// Times are seconds or milliseconds of simulated time, as the field says.
namespace kvsim::metrics {

// The figures of a summary that depend on how long steps take.
struct Figures {
  double duration = 0;  // s
  double request_throughput = 0;
  std::optional<double> request_goodput;  // absent without an SLO
  double output_throughput = 0, total_token_throughput = 0;
  std::optional<double> offered_rate;  // absent for fewer than two arrivals, or all at once
  double max_output_tokens_per_s = 0;
  Distribution ttft_ms, tpot_ms, itl_ms, e2el_ms;
};

// Field names and definitions of `vllm bench serve`; warm-up excluded
// (docs/explanation/metrics.md).
struct Summary : Figures {
  std::int64_t completed = 0, failed = 0;
  std::int64_t total_input_tokens = 0, total_output_tokens = 0;
  std::int64_t max_concurrent_requests = 0;
  std::vector<double> percentile_levels{50, 90, 95, 99};  // of all four distributions
  // Ends of each figure's interval (metrics/interval.h): together present or absent, and a figure
  // that is absent has none.
  std::optional<Figures> low, high;
};

struct KvSummary {
  std::int64_t total_blocks = 0;  // usable, over all engines
  double peak_used_ratio = 0;     // held by requests at one moment, over all engines
  double mean_used_ratio = 0;     // time-weighted
  std::int64_t prefix_query_tokens = 0, prefix_hit_tokens = 0;
  std::int64_t host_hit_tokens = 0;  // brought back from a host pool, resumed requests included
  double prefix_hit_rate_tokens = 0;
  double prefix_hit_rate_blocks = 0;  // over full blocks
  std::int64_t evicted_blocks = 0;
  std::int64_t preemptions = 0, preempted_tokens = 0;
};

// Where the slots of a KV pool are, as shares that add up to 1, in the mean over the time of steps.
struct KvShares {
  double token_states_ratio = 0;  // hold the key and value of a token
  double reserved_ratio = 0;      // will hold one before their request ends
  double internal_ratio = 0;      // held for a request and never filled
  double external_ratio = 0;      // between reservations, or free while a request waits for memory
  double free_ratio = 0;          // free, and nobody waits for memory
  double mean_running = 0;        // requests
};
struct KvWaste {
  KvShares busy;                           // over all steps
  double pressure_ratio = 0;               // share of their time in which one waits for memory
  std::optional<KvShares> under_pressure;  // over that time; absent if there was none
};

// One operator over all steps of an engine.
struct OperatorShare {
  std::string name;        // "qkv_gemm", "attention[global]", "all_reduce", "host_load", ...
  double seconds = 0;      // of busy_s
  double share_ratio = 0;  // of busy_s; those of an engine add up to 1
  std::int64_t calls = 0;  // kernel launches
  std::string binds;       // what binds it for most of that time
  std::string source;      // where most of that time comes from
};

// Where one engine's time went, and what kept requests waiting. The caller fills it.
struct EngineResult {
  std::string pool;
  int pool_index = 0, replica = 0, data_parallel_rank = 0;
  bool first_of_pool() const { return replica == 0 && data_parallel_rank == 0; }
  std::string profile, rules;  // "vllm-v1", "vllm-v1 >= 0.21"
  std::string model, gpu;
  int gpus = 1;
  int tensor_parallel_size = 1;
  std::string kv_dtype;     // "bfloat16", "fp8", ...
  std::string cost_source;  // "measured", "fitted", "datasheet" or "constant"
  std::string cost_note;    // one sentence: source and known error
  // Ends of a step time's interval over the step time, in the mean over busy time.
  double step_time_low_ratio = 1, step_time_high_ratio = 1;
  // Shares of busy time by where the operators' times come from; the rest is of constant steps.
  double measured_ratio = 0, fitted_ratio = 0, datasheet_ratio = 0;
  // Share of busy time of operators outside their calibrated range, and how far in doublings.
  double outside_range_ratio = 0, octaves_outside = 0;
  std::vector<OperatorShare> operators;  // longest first
  std::int64_t total_blocks = 0;         // usable
  std::int64_t block_tokens = 0;
  std::int64_t kv_bytes = 0;  // per GPU
  std::int64_t max_num_seqs = 0, max_num_batched_tokens = 0;
  std::int64_t steps = 0;
  double busy_s = 0;  // in steps; the parts below add up to it
  double compute_s = 0, memory_s = 0, link_s = 0, launch_s = 0, constant_s = 0;
  // Mean draw of one GPU over the duration, in watts, an estimate (cost/power.h); absent where the
  // GPU states no power limit and under constant steps, whose load nobody knows.
  std::optional<double> mean_power_w;
  std::int64_t scheduled_tokens = 0;
  // Steps after which a request was left waiting, by what refused it.
  std::int64_t steps_refused_kv = 0, steps_refused_seqs = 0, steps_refused_tokens = 0;
  double peak_used_ratio = 0, mean_used_ratio = 0, mean_running = 0, mean_waiting = 0;
  std::int64_t completed = 0, preemptions = 0, evicted_blocks = 0;
  KvWaste kv_waste;
};

struct Cost {
  double gpu_hours = 0;
  std::optional<double> usd_per_million_output_tokens, usd_per_million_total_tokens;
  // Of all GPUs over the duration; absent where one of them has no mean_power_w.
  std::optional<double> energy_wh;
  std::optional<double> energy_wh_per_million_output_tokens;  // absent without output tokens, too
};

struct Verdict {
  std::string binds;     // one of binds_words
  std::string sentence;  // what binds and how that shows, with figures
  std::string lever;     // what to pull, in words
  std::string set;       // the same as "path=value" for --set, or empty
  std::optional<Overload> overload;
};

// State over time, for plots: means per bucket of `width_s`, from time 0, at most 128 buckets,
// rounded to four decimals.
struct Series {
  double width_s = 0;
  std::vector<double> kv_used_ratio, running, waiting;
};

// One request, kept only where detail was asked for.
struct RequestRow {
  std::int64_t index = 0;
  std::string id, session;
  int pool = 0, engine = 0;
  std::int64_t prompt_tokens = 0, output_tokens = 0, cached_tokens = 0, preemptions = 0;
  bool measured = true;  // false: inside the warm-up
  std::string failure;   // empty: completed
  Time arrival, first_scheduled, first_token, end;
  std::vector<Duration> gaps;  // empty where the engine did not keep them
};

// A request that was never served.
struct Failure {
  std::string id, reason;
};

// What the ends of the summary's figures cover.
struct Intervals {
  double level_ratio = 0.9;  // of cases that lie between them
  int seeds = 1;             // traffic simulated with so many seeds; 1: its randomness is left out
};

// All of a result but its requests, of which there may be a million.
struct RunDocument {
  int behaviour_number = kvsim::behaviour;
  bool complete = true;
  std::string scenario_json;  // the resolved scenario, a JSON object
  std::string name;           // of the scenario
  std::string purpose;        // its purpose line; may be empty
  std::int64_t seed = 0;
  Summary summary;
  std::optional<Intervals> intervals;  // absent where the summary has no ends
  KvSummary kv;
  std::vector<EngineResult> engines;
  Cost cost;
  Verdict verdict;
  Series series;
  std::vector<Histogram> histograms;
  std::vector<Failure> failures;  // the first 20
  std::vector<std::string> warnings;
};

struct RunResult : RunDocument {
  std::vector<RequestRow> requests;  // kept only where detail was asked for
};

}  // namespace kvsim::metrics
