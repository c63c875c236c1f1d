#include "scenario/intervals.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <vector>

#include "cost/cost_model.h"
#include "engine/engine.h"

using namespace kvsim;
using scenario::Ends;

namespace {

scenario::Resolved resolve(const std::string& engine, const std::string& process = "poisson",
                           int seed = 1) {
  static const spec::Catalog catalog;
  return scenario::resolve(
      config::Document::parse(
          R"({"schema":"kvsim.scenario/1","model":"llama-3.1-8b","seed":)" + std::to_string(seed) +
              R"(,"workload":{"generate":{"kind":"independent","requests":80,
"arrival":{"process":")" +
              process + R"(","rate":8},"input":{"distribution":"uniform","min":50,"max":900},
"output":{"distribution":"uniform","min":5,"max":60}}},"slo":{"ttft_ms":60},
"cluster":{"pools":[{"name":"serve","engine":{"gpu":"h100-sxm","max_model_len":4096)" +
              engine + "}}]}}",
          "s.json"),
      "", catalog);
}

const std::string constant = R"(,"cost":{"kind":"constant","step":"20ms"})";
const std::string roofline = R"(,"cost":{"kind":"roofline"})";

// The same with every step longer by a factor, by way of another model.
metrics::Summary scaled(const scenario::Resolved& s, double factor) {
  scenario::RunOptions options;
  options.with_cost = [factor](const cost::CostModel& own) {
    return cost::make_scaled(own, factor);
  };
  return scenario::run(s, options).summary;
}

metrics::RunResult bounded(const scenario::Resolved& s, int seeds = 1) {
  return scenario::run_with_intervals(s, {}, {.ends = Ends::on, .seeds = seeds});
}

std::vector<double> figures(const metrics::Figures& f) {
  std::vector<double> out{f.duration,
                          f.request_throughput,
                          f.request_goodput.value_or(0),
                          f.output_throughput,
                          f.total_token_throughput,
                          f.offered_rate.value_or(0),
                          f.max_output_tokens_per_s};
  for (const metrics::Distribution* d : {&f.ttft_ms, &f.tpot_ms, &f.itl_ms, &f.e2el_ms}) {
    out.insert(out.end(), {d->mean, d->median, d->std});
    out.insert(out.end(), d->percentiles.begin(), d->percentiles.end());
  }
  return out;
}

// Raises a flag at a step.
class Alarm final : public engine::StepSink {
 public:
  void step(const Step&) override { raised = ++steps == at; }
  std::atomic<bool> raised{false};
  int steps = 0, at = -1;
};

}  // namespace

TEST_CASE("the interval of a run with constant steps is zero wide") {
  const auto r = bounded(resolve(constant));
  REQUIRE(r.summary.low);
  CHECK(figures(*r.summary.low) == figures(r.summary));
  CHECK(figures(*r.summary.high) == figures(r.summary));
  CHECK(r.intervals->seeds == 1);
  CHECK(r.warnings.empty());
}

TEST_CASE("ends of a roofline run are runs with all step times scaled") {
  const auto s = resolve(roofline);
  const auto r = bounded(s);
  const auto plain = scenario::run(s).summary;
  // ln 0.9 and ln 2.25 as they are published in docs/explanation/validation.md.
  const auto fast = figures(scaled(s, std::exp(-0.105360515657826))),
             slow = figures(scaled(s, std::exp(0.810930216216329)));
  const auto value = figures(r.summary), low = figures(*r.summary.low),
             high = figures(*r.summary.high);
  CHECK(value == figures(plain));
  REQUIRE(value.size() == 7 + 4 * 7);
  for (std::size_t i = 0; i < value.size(); ++i) {
    CAPTURE(i);
    CHECK(low[i] == std::min({value[i], fast[i], slow[i]}));
    CHECK(high[i] == std::max({value[i], fast[i], slow[i]}));
    CHECK(low[i] <= value[i]);
    CHECK(value[i] <= high[i]);
  }
  CHECK(r.summary.high->ttft_ms.mean > 2 * r.summary.ttft_ms.mean);
  CHECK(r.summary.low->tpot_ms.mean < 0.95 * r.summary.tpot_ms.mean);
  CHECK(r.engines[0].step_time_low_ratio == doctest::Approx(0.9));
  CHECK(r.engines[0].step_time_high_ratio == doctest::Approx(2.25));
}

TEST_CASE("seeds widen an interval by what their own runs differ by") {
  const auto r = bounded(resolve(constant), 3);
  CHECK(r.intervals->seeds == 3);
  double value[3], mean = 0, squares = 0;
  for (int i = 0; i < 3; ++i) {
    value[i] = scenario::run(resolve(constant, "poisson", 1 + i)).summary.e2el_ms.mean;
    mean += value[i] / 3;
  }
  for (const double x : value) squares += (x - mean) * (x - mean);
  const double error = 2.92 * std::sqrt(squares / 2);
  REQUIRE(error > 0);
  CHECK(value[0] == r.summary.e2el_ms.mean);
  CHECK(r.summary.low->e2el_ms.mean == doctest::Approx(value[0] - error));
  CHECK(r.summary.high->e2el_ms.mean == doctest::Approx(value[0] + error));
}

TEST_CASE("the answer does not depend on the threads") {
  const auto s = resolve("");
  const auto with = [&](int threads) {
    return scenario::run_with_intervals(s, {}, {.ends = Ends::on, .seeds = 4, .threads = threads});
  };
  const auto one = with(1);
  for (const int threads : {2, 6}) {
    const auto several = with(threads);
    CHECK(figures(several.summary) == figures(one.summary));
    CHECK(figures(*several.summary.low) == figures(*one.summary.low));
    CHECK(figures(*several.summary.high) == figures(*one.summary.high));
  }
}

TEST_CASE("intervals that are not wanted or too long have no ends") {
  const auto s = resolve(roofline);
  const auto off = scenario::run_with_intervals(s, {}, {.ends = Ends::off});
  CHECK(!off.summary.low);
  CHECK(!off.intervals);
  CHECK(off.warnings.empty());

  const auto many = scenario::run_with_intervals(s, {}, {.most_requests = 79});
  CHECK(many.complete);
  CHECK(!many.summary.low);
  REQUIRE(many.warnings.size() == 1);
  CHECK(many.warnings[0].find("more than 79 requests") != std::string::npos);
  CHECK(scenario::run_with_intervals(s, {}, {.most_requests = 80}).summary.low);
  CHECK(scenario::run_with_intervals(s, {}, {.ends = Ends::on, .most_requests = 1}).summary.low);
}

TEST_CASE("an interrupted run has no ends and is not complete") {
  const std::atomic<bool> stop{true};
  scenario::RunOptions options;
  options.stop = &stop;
  const auto r = scenario::run_with_intervals(resolve(""), options, {});
  CHECK(!r.complete);
  CHECK(!r.summary.low);
}

TEST_CASE("a run that is interrupted while its ends are simulated is not complete") {
  // Raised at the last step of the run as it is; one thread simulates the ends after it.
  Alarm count;
  scenario::RunOptions options;
  options.steps = &count;
  const auto whole = scenario::run_with_intervals(resolve(""), options, {});
  Alarm alarm;
  alarm.at = count.steps;
  options.steps = &alarm;
  options.stop = &alarm.raised;
  const auto r = scenario::run_with_intervals(resolve(""), options, {.threads = 1});
  CHECK(!r.complete);
  CHECK(!r.summary.low);
  CHECK(r.summary.completed == whole.summary.completed);
}

TEST_CASE("a request that never fits is refused as without intervals") {
  CHECK_THROWS_AS(bounded(resolve(R"(,"max_num_batched_tokens":64,"enable_chunked_prefill":false,
"max_num_seqs":4)")),
                  InputError);
}

TEST_CASE("the shares of operators add up to one and their seconds to the busy time") {
  for (const std::string& engine :
       {std::string(), constant, roofline, std::string(R"(,"tensor_parallel_size":2)")}) {
    const auto r = scenario::run(resolve(engine));
    const metrics::EngineResult& e = r.engines.at(0);
    CAPTURE(engine);
    double share = 0, seconds = 0, by_source = e.measured_ratio + e.fitted_ratio;
    for (const metrics::OperatorShare& op : e.operators) {
      share += op.share_ratio;
      seconds += op.seconds;
      CHECK(op.calls > 0);
      CHECK(!op.binds.empty());
    }
    by_source += e.datasheet_ratio + (e.constant_s > 0 ? 1 : 0);
    CHECK(share == doctest::Approx(1));
    CHECK(seconds == doctest::Approx(e.busy_s));
    CHECK(by_source == doctest::Approx(1));
    CHECK(e.compute_s + e.memory_s + e.link_s + e.launch_s + e.constant_s ==
          doctest::Approx(e.busy_s));
    CHECK(e.outside_range_ratio >= 0);
    if (engine == constant || engine == roofline) CHECK(e.outside_range_ratio == 0);
  }
}

TEST_CASE("operators outside the range that was measured are warned about") {
  // A model whose every product was extrapolated by three doublings.
  class Outside final : public cost::CostModel {
   public:
    explicit Outside(const cost::CostModel& own) : own_(own) {}
    double step_seconds(const cost::StepShape& s) const override { return own_.step_seconds(s); }
    cost::StepBill bill(const cost::StepShape& s) const override {
      cost::StepBill b = own_.bill(s);
      for (cost::OperatorTime& op : b.operators)
        if (op.name.ends_with("_gemm")) op.octaves_outside = 3, op.source = cost::Source::fitted;
      return b;
    }
    cost::Spread spread(const cost::StepShape&) const override { return {0.1, 0.1}; }
    cost::Source source() const override { return cost::Source::fitted; }
    std::string describe() const override { return "outside"; }

   private:
    const cost::CostModel& own_;
  };
  scenario::RunOptions options;
  options.with_cost = [](const cost::CostModel& own) { return std::make_unique<Outside>(own); };
  const auto r = scenario::run(resolve(roofline), options);
  const metrics::EngineResult& e = r.engines.at(0);
  double gemms = 0;
  for (const metrics::OperatorShare& op : e.operators)
    if (op.name.ends_with("_gemm")) gemms += op.share_ratio;
  CHECK(gemms > 0.5);
  CHECK(e.outside_range_ratio == doctest::Approx(gemms));
  CHECK(e.fitted_ratio == doctest::Approx(gemms));
  CHECK(e.octaves_outside == 3);
  REQUIRE(r.warnings.size() == 1);
  CHECK(r.warnings[0].find("by up to a factor of 8)") != std::string::npos);
  CHECK(scenario::run(resolve(roofline)).warnings.empty());
}
