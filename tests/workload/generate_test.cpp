#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>

#include "config/document.h"
#include "config/reader.h"
#include "workload/analysis/trace_info.h"
#include "workload/generate/kinds.h"
#include "workload/retimed.h"
#include "workload/spec.h"
#include "workload/text.h"

using namespace kvsim;
using namespace kvsim::workload;

namespace {

WorkloadSpec workload_of(const std::string& json) {
  WorkloadSpec spec;
  Diagnostics problems;
  const auto document = config::Document::parse(json, "spec");
  config::read(document.root(), spec, problems);
  problems.throw_if_errors();
  return spec;
}

std::vector<RequestSpec> made(const std::string& generate, std::uint64_t seed = 1) {
  return everything(*make_workload(workload_of("{\"generate\":" + generate + "}"), seed));
}

std::string spec(const std::string& kind, int requests, const std::string& arrival,
                 const std::string& more = "") {
  return "{\"kind\":\"" + kind + "\",\"requests\":" + std::to_string(requests) +
         ",\"arrival\":" + arrival +
         ",\"input\":{\"distribution\":\"lognormal\",\"median\":200,\"sigma\":1,\"min\":10,\"max\":"
         "4000}"
         ",\"output\":{\"distribution\":\"uniform\",\"min\":5,\"max\":50}" +
         more + "}";
}

const std::string poisson = R"({"process":"poisson","rate":4})";
const std::string chat =
    R"(,"chat":{"turns":{"distribution":"uniform","min":1,"max":6},"think":{"distribution":"exponential","time":"5s"}},"system":{"count":3,"tokens":{"value":100},"weights":[5,1,0]})";
const std::string agent =
    R"(,"agent":{"steps":{"distribution":"uniform","min":2,"max":5},"tool_tokens":{"value":80},"tool_time":{"time":"1s"},"branch_probability":0.5,"branches":{"value":3},"branch_steps":{"value":2}})";

// Serves every request for a fixed time per output token and answers them by index.
std::map<std::int64_t, RequestSpec> served(RequestSource& source, double seconds_per_token,
                                           std::size_t* most_at_once = nullptr) {
  std::map<std::int64_t, RequestSpec> all;
  using End = std::pair<std::int64_t, std::int64_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> running;
  std::priority_queue<End, std::vector<End>, std::greater<>> coming;
  RequestSpec r;
  const auto take = [&](const RequestSpec& request) {
    REQUIRE(all.emplace(request.index, request).second);
    coming.push({request.arrival.nanoseconds(), request.index});
  };
  while (source.next(r)) take(r);
  std::size_t most = 0;
  while (!coming.empty() || !running.empty()) {
    if (!coming.empty() && (running.empty() || coming.top().first <= running.top().first)) {
      const auto [at, index] = coming.top();
      coming.pop();
      running.push(
          {at + to_duration(seconds_per_token * static_cast<double>(all[index].output_tokens))
                    .value(),
           index});
      most = std::max(most, running.size());
    } else {
      const auto [at, index] = running.top();
      running.pop();
      const bool more = source.ended(index, Time(at));
      bool got = false;
      while (source.follow_up(r)) {
        CHECK(r.arrival >= Time(at));
        got = true;
        take(r);
      }
      CHECK(more == got);
    }
  }
  if (most_at_once) *most_at_once = most;
  return all;
}

double gap_cv(const std::vector<RequestSpec>& r) {
  double sum = 0, squares = 0;
  for (std::size_t i = 1; i < r.size(); ++i) {
    const double gap = to_seconds(r[i].arrival - r[i - 1].arrival);
    sum += gap, squares += gap * gap;
  }
  const auto n = static_cast<double>(r.size() - 1);
  return std::sqrt(squares / n - sum / n * sum / n) / (sum / n);
}

std::string refusal(const std::string& generate) {
  try {
    made(generate);
  } catch (const InputError& error) {
    return error.diagnostics().at(0).pointer + ": " + error.diagnostics().at(0).message;
  }
  return "";
}

}  // namespace

TEST_SUITE("workload/generate") {
  TEST_CASE("arrival processes have their rate and their burstiness") {
    const auto p = made(spec("independent", 20'000, poisson));
    CHECK(to_seconds(p.back().arrival) == doctest::Approx(5000).epsilon(0.03));
    CHECK(gap_cv(p) == doctest::Approx(1).epsilon(0.03));
    const auto g =
        made(spec("independent", 20'000, R"({"process":"gamma","rate":4,"burstiness":0.25})"));
    CHECK(to_seconds(g.back().arrival) == doctest::Approx(5000).epsilon(0.05));
    CHECK(gap_cv(g) == doctest::Approx(2).epsilon(0.05));
    const auto c = made(spec("independent", 9, R"({"process":"constant","rate":4})"));
    CHECK(c[0].arrival == Time(0));
    CHECK(c[8].arrival == Time(2'000'000'000));
    const auto scaled = made(spec(
        "independent", 100, R"({"process":"gamma","rate":4,"burstiness":0.25,"rescale":true})"));
    CHECK(scaled.back().arrival == Time(25'000'000'000));
  }

  TEST_CASE("a diurnal process follows its rates") {
    const auto count = [](const std::vector<RequestSpec>& r, double period, double from,
                          double to) {
      return std::ranges::count_if(r, [&](const RequestSpec& x) {
        const double part = std::fmod(to_seconds(x.arrival), period) / period;
        return part >= from && part < to;
      });
    };
    const auto sine =
        made(spec("independent", 20'000,
                  R"({"process":"diurnal","rate":10,"amplitude":0.8,"period":"100s"})"));
    const double rise =
        static_cast<double>(count(sine, 100, 0, 0.5)) / static_cast<double>(sine.size());
    CHECK(rise == doctest::Approx(0.5 + 0.8 / 3.14159265).epsilon(0.03));
    CHECK(to_seconds(sine.back().arrival) == doctest::Approx(2000).epsilon(0.05));
    const auto steps =
        made(spec("independent", 6'000, R"({"process":"diurnal","rates":[0,1,5],"period":"30s"})"));
    CHECK(count(steps, 30, 0, 1.0 / 3) == 0);
    CHECK(static_cast<double>(count(steps, 30, 2.0 / 3, 1)) / 6000 ==
          doctest::Approx(5.0 / 6).epsilon(0.03));
  }

  TEST_CASE("lengths keep within their bounds and have their median") {
    auto r = made(spec("independent", 5'000, poisson));
    std::ranges::sort(r, {}, &RequestSpec::prompt_tokens);
    CHECK(r.front().prompt_tokens >= 10);
    CHECK(r.back().prompt_tokens <= 4000);
    CHECK(static_cast<double>(r[2500].prompt_tokens) == doctest::Approx(200).epsilon(0.06));
    for (const auto& x : r) CHECK((x.output_tokens >= 5 && x.output_tokens <= 50));
  }

  TEST_CASE("the seed alone decides and another consumer shifts nothing") {
    const auto a = made(spec("independent", 50, poisson));
    CHECK(a == made(spec("independent", 50, poisson)));
    CHECK(a != made(spec("independent", 50, poisson), 2));
    const auto b = made(spec("independent", 50, R"({"process":"constant","rate":1})",
                             R"(,"system":{"count":2,"tokens":{"value":64}})"));
    for (std::size_t i = 0; i < a.size(); ++i) {
      CHECK(a[i].prompt_tokens + 64 == b[i].prompt_tokens);
      CHECK(a[i].output_tokens == b[i].output_tokens);
    }
    const auto more = made(spec("independent", 80, poisson));
    CHECK(std::equal(a.begin(), a.end(), more.begin()));
  }

  TEST_CASE("system prompts are shared as their weights say") {
    const auto r = made(spec("independent", 3'000, poisson,
                             R"(,"system":{"count":3,"tokens":{"value":100},"weights":[5,1,0]})"));
    const auto first = std::ranges::count_if(
        r, [](const RequestSpec& x) { return x.prompt[0].content == content_id("system0"); });
    CHECK(static_cast<double>(first) / 3000 == doctest::Approx(5.0 / 6).epsilon(0.03));
    CHECK(std::ranges::none_of(
        r, [](const RequestSpec& x) { return x.prompt[0].content == content_id("system2"); }));
  }

  TEST_CASE("each prompt of a chat starts with the history and outputs included") {
    const auto r = made(spec("chat", 500, poisson, chat));
    REQUIRE(r.size() == 500);
    int followers = 0;
    for (const auto& x : r) {
      CHECK(x.index == &x - r.data());
      if (x.after < 0) continue;
      ++followers;
      const RequestSpec& before = r[static_cast<std::size_t>(x.after)];
      CHECK(before.session == x.session);
      CHECK(common_prefix(x.prompt, history_of(before)) ==
            before.prompt_tokens + before.output_tokens);
      CHECK(x.prompt_tokens > before.prompt_tokens + before.output_tokens);
    }
    CHECK(followers > 250);
  }

  TEST_CASE("a chat ends before its context is too long") {
    for (const auto& x : made(spec("chat", 500, poisson, chat + ",\"max_context\":1500")))
      CHECK((x.after < 0 || x.prompt_tokens + x.output_tokens <= 1500));
  }

  TEST_CASE("branches of an agent share the context of the call that started them") {
    const auto r = made(spec("agent", 400, poisson, agent));
    int branches = 0;
    for (const auto& x : r) {
      CHECK(x.after < x.index);
      if (x.after < 0) continue;
      const RequestSpec& before = r[static_cast<std::size_t>(x.after)];
      if (x.id.find(".b") != std::string::npos) ++branches;
      const bool same_loop =
          (x.id.find(".b") == std::string::npos) == (before.id.find(".b") == std::string::npos);
      if (same_loop)
        CHECK(common_prefix(x.prompt, history_of(before)) ==
              before.prompt_tokens + before.output_tokens);
    }
    CHECK(branches > 100);
    const TraceInfo info = trace_info(
        *make_workload(workload_of("{\"generate\":" + spec("agent", 400, poisson, agent) + "}"), 1),
        {});
    CHECK(info.reuse.tokens > 0.5);
  }

  TEST_CASE("serving delivers exactly the requests of the list whatever the speed") {
    for (const auto& text :
         {spec("independent", 60, poisson), spec("chat", 200, poisson, chat),
          spec("agent", 200, poisson, agent),
          spec("chat", 200, R"({"process":"closed","clients":7,"think":{"time":"1s"}})", chat),
          spec("agent", 100, R"({"process":"closed","clients":3})", agent)}) {
      const auto listed = made(text);
      for (const double speed : {0.001, 0.3}) {
        const auto source = make_workload(workload_of("{\"generate\":" + text + "}"), 1);
        auto all = served(*source, speed);
        CHECK(source->remaining() == 0);
        REQUIRE(all.size() == listed.size());
        for (const RequestSpec& expected : listed) {
          RequestSpec& r = all[expected.index];
          if (expected.after < 0) CHECK(r.arrival == expected.arrival);
          r.arrival = expected.arrival;
          CHECK(r == expected);
        }
      }
    }
  }

  TEST_CASE("a closed loop never runs more requests than it has clients") {
    std::size_t most = 0;
    const auto source = make_workload(
        workload_of("{\"generate\":" +
                    spec("chat", 300, R"({"process":"closed","clients":7})", chat) + "}"),
        1);
    CHECK(served(*source, 0.1, &most).size() == 300);
    CHECK(most == 7);
    const std::string lengths =
        R"({"trace":{"file":"lengths.json"},"arrival":{"process":"closed","clients":4}})";
    std::string list;
    for (int i = 0; i < 50; ++i) list += "[10," + std::to_string(i + 1) + "]\n";
    const auto trace =
        retimed(open_trace_text(list, "lengths", "t"), *workload_of(lengths).arrival, 1);
    CHECK(served(*trace, 0.1, &most).size() == 50);
    CHECK(most == 4);
  }

  TEST_CASE("a trace without times takes them from a process") {
    const std::string list = "[[10,20],[30,40],[50,60]]";
    const auto times = retimed(
        open_trace_text(list, "lengths", "t"),
        *workload_of(R"({"trace":{"file":"x"},"arrival":{"process":"constant","rate":2}})").arrival,
        1);
    const auto r = everything(*times);
    REQUIRE(r.size() == 3);
    CHECK(r[2].arrival == Time(1'000'000'000));
    CHECK_THROWS_AS(
        retimed(
            open_trace_text(list, "lengths", "t"),
            *workload_of(
                 R"({"trace":{"file":"x"},"arrival":{"process":"poisson","rate":2,"rescale":true}})")
                 .arrival,
            1),
        InputError);
  }

  TEST_CASE("fields that contradict one another are named") {
    CHECK(refusal(spec("independent", 5, R"({"process":"poisson"})")) ==
          "/workload/generate/arrival: process \"poisson\" needs \"rate\"");
    CHECK(refusal(spec("independent", 5, R"({"process":"poisson","rate":1,"clients":3})")) ==
          "/workload/generate/arrival: \"clients\" has no meaning for process \"poisson\"");
    CHECK(refusal(spec("chatt", 5, poisson)).starts_with("/workload/generate/kind: unknown kind"));
    CHECK(refusal(spec("chat", 5, poisson)) ==
          "/workload/generate: kind \"chat\" needs the block \"chat\"");
    CHECK(refusal(spec("independent", 5, poisson, chat)) ==
          "/workload/generate/chat: the block \"chat\" has no meaning for kind \"independent\"");
    CHECK(refusal(spec("independent", 5, poisson,
                       R"(,"system":{"count":2,"tokens":{"value":5},"weights":[1]})")) ==
          "/workload/generate/system/weights: 1 weights for 2 system prompts");
    CHECK(
        refusal(spec("independent", 5, poisson,
                     R"(,"system":{"tokens":{"distribution":"uniform","value":5}})")) ==
        "/workload/generate/system/tokens: \"value\" has no meaning for distribution \"uniform\"");
    CHECK(refusal(spec("independent", 0, poisson)).starts_with("/generate/requests"));
    CHECK_THROWS_AS(make_workload(WorkloadSpec{}, 1), InputError);
    CHECK_THROWS_AS(make_workload(workload_of(R"({"trace":{"file":"x"},"generate":)" +
                                              spec("independent", 5, poisson) + "}"),
                                  1),
                    InputError);
  }

  TEST_CASE("a length that never falls within its bounds is an error and no endless loop") {
    const std::string never =
        R"({"kind":"independent","requests":5,"arrival":{"process":"poisson","rate":1},)"
        R"("input":{"distribution":"lognormal","median":0.48,"sigma":0},"output":{"value":1}})";
    CHECK(refusal(never).find("fell outside 1 to") != std::string::npos);
  }

  TEST_CASE("empirical lengths come from the rows of a trace") {
    const std::string trace = std::string(KVSIM_SOURCE_DIR) + "/scenarios/traces/chat.jsonl";
    std::map<std::int64_t, std::int64_t> rows;
    TraceOptions options;
    options.file = trace;
    for (const auto& r : everything(*open_trace(options))) rows[r.prompt_tokens] = r.output_tokens;
    const std::string lengths = R"({"distribution":"empirical","file":")" + trace + "\"}";
    for (
        const auto& r : made(
            R"({"kind":"independent","requests":200,"arrival":{"process":"poisson","rate":1},"input":)" +
            lengths + R"(,"output":)" + lengths + "}"))
      CHECK(rows.contains(r.prompt_tokens));
  }

  TEST_CASE("every kind of requests has a row with a summary") {
    for (const RequestKindEntry& entry : request_kinds()) {
      CHECK(find_request_kind(entry.name) == &entry);
      CHECK_FALSE(entry.summary.empty());
    }
    CHECK(find_request_kind("none") == nullptr);
  }
}
