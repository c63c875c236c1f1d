#include "report/result_fields.h"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>

#include "diag/check.h"

namespace kvsim::metrics {
namespace {

using config::Field;
using config::FieldVisitor;

Field must(std::string_view name, std::string_view doc) { return {name, doc, {}, true}; }

// A figure of the result: never NaN or infinite, which JSON has no words for.
void figure(FieldVisitor& v, const Field& f, double& value) {
  KVSIM_CHECK(std::isfinite(value), "{} is not a finite number", f.name);
  v.field(f, value);
}
void figure(FieldVisitor& v, const Field& f, std::optional<double>& value) {
  KVSIM_CHECK(!value || std::isfinite(*value), "{} is not a finite number", f.name);
  v.field(f, value);
}

void seconds(FieldVisitor& v, const Field& f, Time& value) {
  double s = to_seconds(value);
  v.field(f, s, config::between(-9e9, 9e9));
  value = Time(to_duration(s).value());
}

// A figure and the ends of its interval, as NAME, NAME_low and NAME_high.
class Bounded {
 public:
  Bounded(FieldVisitor& v, Summary& s)
      : v_(v),
        low_{s.low.value_or(Figures()), s.low.has_value()},
        high_{s.high.value_or(Figures()), s.high.has_value()} {}

  template <class T>
  void operator()(const std::string& name, const std::string& doc, T& value, T Figures::*member) {
    figure(v_, must(name, doc), value);
    end(low_, name + "_low", "low end of that", low_.figures.*member);
    end(high_, name + "_high", "high end of that", high_.figures.*member);
  }
  void operator()(std::string_view name, std::string_view doc, Summary& s,
                  Distribution Figures::*member) {
    Distribution &value = s.*member, &low = low_.figures.*member, &high = high_.figures.*member;
    const auto one = [&](const std::string& prefix, double& middle, double& least, double& most) {
      const std::string whole = fmt::format("{}_{}", prefix, name);
      figure(v_, must(whole, fmt::format("{} of {}", prefix, doc)), middle);
      end(low_, whole + "_low", "low end of that", least);
      end(high_, whole + "_high", "high end of that", most);
    };
    one("mean", value.mean, low.mean, high.mean);
    one("median", value.median, low.median, high.median);
    one("std", value.std, low.std, high.std);
    const std::size_t levels = s.percentile_levels.size();
    for (Distribution* d : {&value, &low, &high}) d->percentiles.resize(levels);
    for (std::size_t i = 0; i < levels; ++i)
      one("p" + percentile_word(s.percentile_levels[i]), value.percentiles[i], low.percentiles[i],
          high.percentiles[i]);
  }
  // What was read; a document that gives no end at all has none.
  void finish(Summary& s) {
    s.low = low_.found ? std::optional(std::move(low_.figures)) : std::nullopt;
    s.high = high_.found ? std::optional(std::move(high_.figures)) : std::nullopt;
  }

 private:
  struct Ends {
    Figures figures;
    bool given = false;  // they are to be written
    bool found = false;  // one of them has a value after the visit
  };
  template <class T>
  void end(Ends& of, const std::string& name, std::string_view doc, T& value) {
    std::optional<double> number;
    if (of.given) number = value;
    figure(v_, {name, doc}, number);
    of.found = of.found || number.has_value();
    if constexpr (std::is_same_v<T, double>)
      value = number.value_or(0);
    else
      value = number;
  }

  FieldVisitor& v_;
  Ends low_, high_;
};

}  // namespace

void fields(FieldVisitor& v, Summary& s) {
  Bounded bounded(v, s);
  v.field(must("completed", "requests that got all their tokens"), s.completed);
  v.field(must("failed", "requests that were never served"), s.failed);
  bounded("duration", "seconds from the start of the measured window to the last end", s.duration,
          &Figures::duration);
  v.field(must("total_input_tokens", "prompt tokens of completed requests"), s.total_input_tokens);
  v.field(must("total_output_tokens", "output tokens of completed requests"),
          s.total_output_tokens);
  bounded("request_throughput", "completed requests per second", s.request_throughput,
          &Figures::request_throughput);
  bounded("request_goodput", "completed requests per second that kept the SLO; null without one",
          s.request_goodput, &Figures::request_goodput);
  bounded("output_throughput", "output tokens per second", s.output_throughput,
          &Figures::output_throughput);
  bounded("total_token_throughput", "input and output tokens per second", s.total_token_throughput,
          &Figures::total_token_throughput);
  bounded("offered_rate",
          "arrivals per second between the first and the last; null when all come at once",
          s.offered_rate, &Figures::offered_rate);
  bounded("max_output_tokens_per_s", "most output tokens in one second", s.max_output_tokens_per_s,
          &Figures::max_output_tokens_per_s);
  v.field(must("max_concurrent_requests", "most requests present in one second"),
          s.max_concurrent_requests);
  v.field(must("percentiles", "the levels that pNN fields are given for"), s.percentile_levels,
          config::between(0, 100));
  bounded("ttft_ms", "the time to first token", s, &Figures::ttft_ms);
  bounded("tpot_ms", "the time per output token after the first, by request", s, &Figures::tpot_ms);
  bounded("itl_ms", "the gaps between tokens", s, &Figures::itl_ms);
  bounded("e2el_ms", "the time from arrival to end", s, &Figures::e2el_ms);
  bounded.finish(s);
}

void fields(FieldVisitor& v, Intervals& i) {
  figure(v, must("level_ratio", "share of cases that lie between the ends"), i.level_ratio);
  v.field(must("seeds", "seeds that the traffic was simulated with; 1: its randomness is left out"),
          i.seeds);
}

void fields(FieldVisitor& v, KvSummary& kv) {
  v.field(must("total_blocks", "usable KV blocks of all engines"), kv.total_blocks);
  figure(v, must("peak_used_ratio", "largest share of blocks held by requests at one moment"),
         kv.peak_used_ratio);
  figure(v, {"mean_used_ratio", "the same in the mean over time"}, kv.mean_used_ratio);
  v.field(must("prefix_query_tokens", "prompt tokens looked up at first admissions"),
          kv.prefix_query_tokens);
  v.field(must("prefix_hit_tokens", "of these, found"), kv.prefix_hit_tokens);
  v.field({"host_hit_tokens",
           "tokens brought back from a host pool at admission, resumed requests included"},
          kv.host_hit_tokens);
  figure(v, must("prefix_hit_rate_tokens", "found over looked up, in tokens"),
         kv.prefix_hit_rate_tokens);
  figure(v, must("prefix_hit_rate_blocks", "found over looked up, in full blocks"),
         kv.prefix_hit_rate_blocks);
  v.field(must("evicted_blocks", "cached blocks that lost their content"), kv.evicted_blocks);
  v.field(must("preemptions", "times a running request was put back"), kv.preemptions);
  v.field(must("preempted_tokens", "computed tokens lost by that"), kv.preempted_tokens);
}

static void fields(FieldVisitor& v, KvShares& s) {
  figure(v, {"token_states_ratio", "hold the key and value of a token"}, s.token_states_ratio);
  figure(v, {"reserved_ratio", "will hold one before their request ends"}, s.reserved_ratio);
  figure(v, {"internal_ratio", "held for a request and never filled"}, s.internal_ratio);
  figure(v, {"external_ratio", "between reservations, or free while a request waits for KV memory"},
         s.external_ratio);
  figure(v, {"free_ratio", "free while none waits for it"}, s.free_ratio);
  figure(v, {"mean_running", "running requests"}, s.mean_running);
}

static void fields(FieldVisitor& v, OperatorShare& o) {
  v.field(must("name", "kernel, or what else takes time"), o.name);
  figure(v, must("seconds", "seconds of busy_s"), o.seconds);
  figure(v, must("share_ratio", "share of busy_s; those of an engine add up to 1"), o.share_ratio);
  v.field({"calls", "kernel launches, estimated from sampled steps"}, o.calls);
  v.field({"binds", "what binds it for most of that time"}, o.binds);
  v.field({"source", "where most of that time comes from: measured, fitted, datasheet, constant"},
          o.source);
}

static void fields(FieldVisitor& v, KvWaste& w) {
  v.object(Field{"busy", "over all steps"}, w.busy);
  figure(v, {"pressure_ratio", "share of their time in which a request waits for KV memory"},
         w.pressure_ratio);
  v.object(Field{"under_pressure", "over that time; null if there was none"}, w.under_pressure);
}

void fields(FieldVisitor& v, EngineResult& e) {
  v.field(must("pool", "name of its pool"), e.pool);
  v.field(must("pool_index", "place of the pool in the scenario"), e.pool_index);
  v.field(must("replica", "number within the pool"), e.replica);
  v.field({"data_parallel_rank", "number within the replica"}, e.data_parallel_rank);
  v.field(must("profile", "scheduler profile"), e.profile);
  v.field(must("rules", "range of engine versions whose rules were used"), e.rules);
  v.field({"model", "model id"}, e.model);
  v.field({"gpu", "GPU id"}, e.gpu);
  v.field({"gpus", "GPUs of this engine"}, e.gpus);
  v.field({"tensor_parallel_size", "GPUs that share each layer"}, e.tensor_parallel_size);
  v.field({"kv_dtype", "element type of the KV cache"}, e.kv_dtype);
  v.field({"cost_source", "measured, fitted, datasheet or constant"}, e.cost_source);
  v.field({"cost_note", "source of the step times and their known error"}, e.cost_note);
  figure(v,
         {"step_time_low_ratio", "low end of a step time over the step time, mean over busy time"},
         e.step_time_low_ratio);
  figure(v, {"step_time_high_ratio", "the same of the high end"}, e.step_time_high_ratio);
  figure(v, {"measured_ratio", "share of busy_s of operators whose time was measured"},
         e.measured_ratio);
  figure(v, {"fitted_ratio", "share of busy_s of operators whose time is a fit"}, e.fitted_ratio);
  figure(v, {"datasheet_ratio", "share of busy_s of operators with a datasheet roofline"},
         e.datasheet_ratio);
  figure(v, {"outside_range_ratio", "share of busy_s of operators outside their calibrated range"},
         e.outside_range_ratio);
  figure(v, {"octaves_outside", "doublings from that range to the farthest of them"},
         e.octaves_outside);
  v.list({"operators", "what the busy time consists of, longest first"}, e.operators);
  v.field({"total_blocks", "usable KV blocks"}, e.total_blocks);
  v.field({"block_tokens", "tokens per block"}, e.block_tokens);
  v.field({"kv_bytes", "KV pool per GPU in bytes"}, e.kv_bytes);
  v.field({"max_num_seqs", "requests that may run at once"}, e.max_num_seqs);
  v.field({"max_num_batched_tokens", "tokens of one step at most"}, e.max_num_batched_tokens);
  v.field({"steps", "steps taken"}, e.steps);
  figure(v, {"busy_s", "seconds in steps"}, e.busy_s);
  figure(v, {"compute_s", "of these, bound by compute"}, e.compute_s);
  figure(v, {"memory_s", "of these, bound by HBM bandwidth"}, e.memory_s);
  figure(v, {"link_s", "of these, bound by a link"}, e.link_s);
  figure(v, {"launch_s", "of these, bound by the launch floor"}, e.launch_s);
  figure(v, {"constant_s", "of these, of a constant step"}, e.constant_s);
  figure(
      v,
      {"mean_power_w",
       "watts of one GPU in the mean over the duration, an estimate; null without a power limit"},
      e.mean_power_w);
  v.field({"scheduled_tokens", "tokens scheduled in all steps"}, e.scheduled_tokens);
  v.field({"steps_refused_kv", "steps that left a request waiting for KV blocks"},
          e.steps_refused_kv);
  v.field({"steps_refused_seqs", "steps that left one waiting because of max_num_seqs"},
          e.steps_refused_seqs);
  v.field({"steps_refused_tokens", "steps that left one waiting because of the token budget"},
          e.steps_refused_tokens);
  figure(v, {"peak_used_ratio", "largest share of blocks held by requests"}, e.peak_used_ratio);
  figure(v, {"mean_used_ratio", "the same in the mean over time"}, e.mean_used_ratio);
  figure(v, {"mean_running", "running requests in the mean over time"}, e.mean_running);
  figure(v, {"mean_waiting", "waiting requests in the mean over time"}, e.mean_waiting);
  v.field({"completed", "requests that ended here"}, e.completed);
  v.field({"preemptions", "times a running request was put back"}, e.preemptions);
  v.field({"evicted_blocks", "cached blocks that lost their content"}, e.evicted_blocks);
  v.object(Field{"kv_waste", "shares of the KV pool in the mean over the time of steps"},
           e.kv_waste);
}

void fields(FieldVisitor& v, Cost& c) {
  figure(v, must("gpu_hours", "GPUs times the duration"), c.gpu_hours);
  figure(v, must("usd_per_million_output_tokens", "null without a price"),
         c.usd_per_million_output_tokens);
  figure(v, must("usd_per_million_total_tokens", "null without a price"),
         c.usd_per_million_total_tokens);
  figure(v, must("energy_wh", "of all GPUs, an estimate; null where one states no power limit"),
         c.energy_wh);
  figure(v, {"energy_wh_per_million_output_tokens", "null with energy_wh or without output"},
         c.energy_wh_per_million_output_tokens);
}

void fields(FieldVisitor& v, Overload& o) {
  v.field(must("overloaded", "arrivals outrun service"), o.overloaded);
  figure(v, must("arrival_rate", "requests per second while they arrive"), o.arrival_rate);
  figure(v, must("completion_rate", "requests per second that end in the second half of that time"),
         o.completion_rate);
  figure(v, must("queue_growth_per_s", "growth of the queue in that half, by least squares"),
         o.queue_growth_per_s);
  figure(v, must("waiting_at_last_arrival", "requests in the queue then"),
         o.waiting_at_last_arrival);
  v.field(must("sentence", "empty unless overloaded"), o.sentence);
}

void fields(FieldVisitor& v, Verdict& verdict) {
  v.field(must("binds", "what binds"), verdict.binds);
  v.field(must("sentence", "how that shows"), verdict.sentence);
  v.field(must("lever", "what to pull"), verdict.lever);
  v.field(must("set", "the lever as path=value for --set"), verdict.set);
  v.object(Field{"overload", "arrivals against service; null when there are too few to judge"},
           verdict.overload);
}

void fields(FieldVisitor& v, Series& s) {
  figure(v, must("width_s", "seconds per bucket"), s.width_s);
  v.field(must("kv_used_ratio", "share of blocks held by requests, mean per bucket"),
          s.kv_used_ratio);
  v.field(must("running", "running requests, mean per bucket"), s.running);
  v.field(must("waiting", "waiting requests, mean per bucket"), s.waiting);
}

void fields(FieldVisitor& v, Histogram& h) {
  v.field(must("name", "as vLLM exports it, without the prefix"), h.name);
  v.field(must("edges", "upper edges"), h.edges);
  v.field(must("counts", "values per bucket"), h.counts);
  v.field(must("count", "values in all"), h.count);
  figure(v, must("sum", "their sum"), h.sum);
}

void fields(FieldVisitor& v, Failure& f) {
  v.field(must("id", "request"), f.id);
  v.field(must("reason", "why it was never served"), f.reason);
}

void fields(FieldVisitor& v, RequestRow& r) {
  v.field(must("id", "request"), r.id);
  v.field(must("index", "place in the order of delivery, from 0"), r.index);
  v.field({"session", "session it belongs to"}, r.session);
  v.field({"pool", "pool that served it"}, r.pool);
  v.field({"engine", "engine that served it, over all pools"}, r.engine);
  v.field(must("measured", "false inside the warm-up"), r.measured);
  v.field({"failure", "why it was never served; empty when it completed"}, r.failure);
  v.field(must("prompt_tokens", "tokens of the prompt"), r.prompt_tokens);
  v.field(must("output_tokens", "tokens made"), r.output_tokens);
  v.field({"cached_tokens", "prefix tokens found at first admission"}, r.cached_tokens);
  v.field({"preemptions", "times it was put back"}, r.preemptions);
  seconds(v, must("arrival_s", "arrival"), r.arrival);
  seconds(v, must("first_scheduled_s", "start of its first step"), r.first_scheduled);
  seconds(v, must("first_token_s", "end of the step that made its first token"), r.first_token);
  seconds(v, must("end_s", "end of the step that made its last token"), r.end);
  std::vector<double> gaps;
  for (const Duration gap : r.gaps) gaps.push_back(to_seconds(gap));
  v.field({"itls_s", "gaps between its tokens, where they were kept"}, gaps,
          config::between(0, 9e9));
  r.gaps.clear();
  for (const double gap : gaps) r.gaps.push_back(to_duration(gap));
}

void fields(FieldVisitor& v, RunDocument& r) {
  v.field(must("behaviour", "rises whenever golden numbers move"), r.behaviour_number);
  v.field(must("complete", "false when the run was interrupted"), r.complete);
  config::RawValue scenario{r.scenario_json, {}, {}};
  v.field(must("scenario", "the scenario with every value resolved"), scenario);
  r.scenario_json = scenario.json;
  v.object(must("summary", "latency and throughput, as vllm bench serve defines them"), r.summary);
  v.object(Field{"intervals",
                 "what the _low and _high figures of summary cover; null where there are none"},
           r.intervals);
  v.object(must("kv", "KV blocks and prefix cache"), r.kv);
  v.list(must("engines", "each serving instance"), r.engines);
  v.object(must("cost", "GPU time and money"), r.cost);
  v.object(must("verdict", "what binds and which lever to pull"), r.verdict);
  v.object({"series", "state over time"}, r.series);
  v.list({"histograms", "buckets as vLLM exports them"}, r.histograms);
  v.list({"failures", "the first requests that were never served"}, r.failures);
  v.field({"warnings", "remarks about the input and the run"}, r.warnings);
}

void fields(FieldVisitor& v, RunResult& r) {
  fields(v, static_cast<RunDocument&>(r));
  v.list({"requests", "each request, where detail was asked for"}, r.requests);
}

}  // namespace kvsim::metrics
