#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "conform/arguments.h"
#include "conform/case.h"
#include "conform/step_fields.h"
#include "diag/suggest.h"
#include "scenario/run.h"
#include "workload/request_list.h"

namespace kvsim::conform {
namespace {

using config::Value;

constexpr std::string_view engine_pointer = "/cluster/pools/0/engine";

// Mistakes in the text itself. Everything else that a scenario may be refused for is something that
// the recorded engine did and kvsim does not.
constexpr std::array<std::string_view, 4> malformed{"wrong-type", "out-of-range", "missing-field",
                                                    "two-names"};

// The scenario of a case: its engine as recorded, with steps of one second. What matters beside the
// recorded fields is nothing: the pool's size is given, and no step's duration depends on a model.
std::string scenario_text(const std::string& id, const std::string& profile,
                          const std::string& model, Value engine) {
  std::string fields;
  const auto add = [&](std::string_view name, std::string_view json) {
    fields += fmt::format("{}{}:{}", fields.empty() ? "" : ",", config::json_string(name), json);
  };
  for (std::size_t i = 0; i < engine.size(); ++i)
    if (engine.key(i) != "cost") add(engine.key(i), engine.at(i).json());
  const auto otherwise = [&](std::string_view name, std::string_view json) {
    if (!engine.find(name).exists()) add(name, json);
  };
  otherwise("profile", config::json_string(profile));
  otherwise("gpu", "\"h100-sxm\"");
  otherwise("tensor_parallel_size", "1");
  otherwise("allow_small_pool", "true");
  if (profile == "sglang") otherwise("async_scheduling", "false");
  add("cost", R"({"kind":"constant","step":"1s"})");
  return fmt::format(R"({{"schema":"{}","name":{},"model":{},"seed":1,)"
                     R"("workload":{{"trace":{{"file":"requests.jsonl","format":"kvsim"}}}},)"
                     R"("cluster":{{"pools":[{{"name":"serve","replicas":1,"engine":{{{}}}}}]}}}})",
                     scenario::scenario_schema, config::json_string(id), config::json_string(model),
                     fields);
}

bool is_asynchronous(Value engine) {
  const Value v = engine.find("async_scheduling");
  return v.exists() && v.kind() == config::Kind::boolean && v.boolean();
}

// The requests of a case, in order. A request is visible to the step it arrives in, and with
// asynchronous scheduling to the schedule call that comes one step earlier.
void read_requests(Value list, std::int64_t ahead, workload::RequestList& out) {
  if (list.size() == 0)
    throw InputError(list.diagnostic("conform-case", "a case needs at least one request"));
  Contents contents;
  std::set<std::string> ids;
  std::int64_t last = 1;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Arguments r(list.at(i));
    workload::RequestSpec spec;
    spec.index = static_cast<std::int64_t>(i);
    spec.id = r.text("id");
    if (!ids.insert(spec.id).second)
      r.invalid("id", "conform-case", fmt::format("two requests have the id \"{}\"", spec.id));
    last = r.integer("arrival_step", last);
    spec.arrival =
        Time{} + to_duration(static_cast<double>(std::max<std::int64_t>(0, last - ahead)));
    for (const kv::TokenRun& run : r.runs("prompt", contents)) {
      workload::append_span(spec.prompt, {run.content, run.offset, run.length});
      spec.prompt_tokens += run.length;
    }
    spec.max_tokens = r.integer("max_tokens", 1, Arguments::max_tokens);
    spec.output_tokens = r.integer("output_tokens", 1, Arguments::max_tokens);
    spec.priority =
        r.maybe_integer("priority", std::numeric_limits<std::int32_t>::min()).value_or(0);
    const std::string salt = r.text("salt", "");
    spec.salt = salt.empty() ? 0 : workload::content_id(salt);
    const std::string adapter = r.text("adapter", "");
    spec.adapter = adapter.empty() ? 0 : workload::content_id(adapter);
    r.finish();
    out.add(spec);
  }
  out.link();
}

void check_steps(Value steps) {
  const auto known = step_fields();
  const std::vector<std::string> list(known.begin(), known.end());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Value step = steps.at(i);
    Arguments about(step);
    const auto number = static_cast<std::int64_t>(i) + 1;
    about.integer("step", number, number);
    for (std::size_t f = 0; f < step.size(); ++f)
      if (step.key(f) != "step" && std::ranges::find(known, step.key(f)) == known.end())
        throw InputError(step.at(f).key_diagnostic(
            "unknown-key", fmt::format("unknown key {}", config::json_string(step.key(f))),
            suggestion(step.key(f), list)));
  }
}

// Holds every step against the record and ends the run at the first difference.
class Comparison final : public engine::StepSink {
 public:
  explicit Comparison(Value steps) : steps_(steps) {}

  void step(const Step& step) override {
    if (difference_) return;
    ++seen_;
    if (seen_ > static_cast<std::int64_t>(steps_.size()))
      return differ("step", "null", fmt::format("{}", seen_));
    const Value recorded = steps_.at(static_cast<std::size_t>(seen_) - 1);
    observe(step, got_);
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      const std::string& field = recorded.key(i);
      if (field == "step" || got_[field].matches(recorded.at(i))) continue;
      return differ(field, recorded.at(i).json(), got_[field].json());
    }
  }

  // To be called at the end of the run.
  std::optional<Difference> finish() {
    if (!difference_ && seen_ < static_cast<std::int64_t>(steps_.size())) {
      ++seen_;
      differ("step", fmt::format("{}", seen_), "null");
    }
    return std::move(difference_);
  }
  const std::atomic<bool>& stop() const { return stop_; }

 private:
  void differ(const std::string& field, std::string expected, std::string got) {
    Difference& d = difference_.emplace();
    d.at = seen_, d.field = field, d.expected = std::move(expected), d.got = std::move(got);
    stop_ = true;
  }

  Value steps_;
  Answers got_;
  std::int64_t seen_ = 0;
  std::optional<Difference> difference_;
  std::atomic<bool> stop_{false};
};

// A problem of the scenario as one of the case: at the recorded setting, and a refusal where the
// text is sound.
Diagnostic placed(const Diagnostic& problem, Value root) {
  const bool is_malformed = std::ranges::find(malformed, problem.code) != malformed.end();
  const std::string code = is_malformed ? problem.code : std::string(unsupported_code);
  Value at = root;
  if (problem.pointer.starts_with(engine_pointer)) {
    at = at_pointer(root, "/engine" + problem.pointer.substr(engine_pointer.size()));
    if (!at.exists() && problem.pointer.ends_with("/profile")) at = root.find("profile");
    if (!at.exists()) at = root.find("engine");
  } else if (problem.code == "request-unservable") {
    at = root.find("requests");
  }
  Diagnostic d = at.diagnostic(code, problem.message, problem.hint);
  d.severity = problem.severity;
  return d;
}

}  // namespace

Outcome replay_steps(Value root, const spec::Catalog& catalog) {
  Arguments about(root, {"source", "totals"});
  Outcome outcome;
  outcome.id = about.text("id");
  const std::string profile = about.text("profile");
  const std::string model = about.text("model", "llama-3.1-8b");
  const Value engine = about.object("engine");
  workload::RequestList requests;
  read_requests(about.list("requests"), is_asynchronous(engine) ? 2 : 1, requests);
  const Value steps = about.list("steps");
  check_steps(steps);
  about.finish();

  Comparison comparison(steps);
  try {
    const scenario::Resolved resolved = scenario::resolve(
        config::Document::parse(scenario_text(outcome.id, profile, model, engine), outcome.id), "",
        catalog);
    scenario::RunOptions options;
    options.steps = &comparison;
    options.stop = &comparison.stop();
    scenario::run(resolved, requests, options);
  } catch (const InputError& error) {
    std::vector<Diagnostic> problems;
    for (const Diagnostic& problem : error.diagnostics()) problems.push_back(placed(problem, root));
    throw InputError(std::move(problems));
  }
  outcome.difference = comparison.finish();
  if (outcome.difference) outcome.difference->case_id = outcome.id;
  return outcome;
}

}  // namespace kvsim::conform
