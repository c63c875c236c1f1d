#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/commands/makers.h"
#include "cli/commands/run_steps.h"
#include "cli/progress.h"
#include "cli/requirements.h"
#include "cli/result_style.h"
#include "config/output_file.h"
#include "report/exporter.h"
#include "report/step_log.h"
#include "scenario/intervals.h"
#include "scenario/run.h"

namespace kvsim::cli {
namespace {

class Run final : public Command {
 public:
  void describe(Flags& flags) override {
    flags.positional("SCENARIO", scenario_, "scenario file, or - for standard input")
        .require()
        .completes(Complete::file);
    flags
        .option("--require", requirements_,
                "a condition on the result, such as 'p99_ttft_ms<=500'; exit 1 when it is missed")
        .value("CONDITION");
    flags.flag("--prove", prove_,
               "simulate once more with the verdict's lever pulled, and say what it gains");
    flags
        .option("--intervals", intervals_,
                "simulate twice more, with step times at both ends of their error; unset: up to "
                "200,000 requests")
        .words({"on", "off"});
    flags
        .option("--seeds", seeds_,
                "simulate so many seeds, from the scenario's on, and add what they differ by to "
                "the intervals")
        .value("N")
        .range(config::between(1, 1000));
    flags.section("More outputs");
    flags.flag("--detailed", detailed_, "keep every request in the JSON document");
    flags
        .option("--steps", steps_,
                "log of every engine step, one JSON line each (docs/reference/step-log.md)")
        .value("FILE")
        .completes(Complete::file);
    flags.option("--requests-out", requests_, "one JSON line per request, with its times")
        .value("FILE")
        .completes(Complete::file);
    flags.option("--csv", csv_, "one row per request").value("FILE").completes(Complete::file);
    flags.option("--vllm-bench", vllm_bench_, "the result as vllm bench serve writes it")
        .value("FILE")
        .completes(Complete::file);
    flags.option("--prometheus", prometheus_, "metrics under vLLM's names")
        .value("FILE")
        .completes(Complete::file);
    flags.option("--html", html_, "a page with tables and plots")
        .value("FILE")
        .completes(Complete::file);
    flags.option("--junit", junit_, "the requirements as a JUnit report")
        .value("FILE")
        .completes(Complete::file);
    flags.flag("--no-collapse", no_collapse_,
               "one event per engine step; this version always does so");
    flags.example("kvsim run scenarios/chat-70b.json", "what this traffic will see");
    flags.example("kvsim run s.json --require 'p99_ttft_ms<=500' --json -o result.json",
                  "gate a pipeline on a result");
    flags.example("kvsim run s.json --set cluster.pools.0.replicas=4",
                  "the same with four replicas");
  }

  Exit run(Context& context) override {
    const Requirements requirements(requirements_);
    std::vector<scenario::Override> overrides;
    for (const Override& o : context.globals().overrides) overrides.push_back({o.path, o.value});
    const spec::Catalog catalog(context.catalog_folders());
    const scenario::Resolved scenario =
        scenario::load(scenario_, catalog, overrides, context.globals().seed);

    for (const std::string* side :
         {&steps_, &requests_, &csv_, &vllm_bench_, &prometheus_, &html_, &junit_})
      if (*side == "-" && context.output().is_stdout())
        throw UsageError("a second output and the result both want stdout",
                         "give the result a file with -o, or the other one", "usage-stdout");
    const std::string* const outputs[] = {
        &steps_,      &requests_, &csv_,   &vllm_bench_,
        &prometheus_, &html_,     &junit_, &context.globals().output};
    for (const std::string* side : outputs) {
      std::error_code missing;
      if (!side->empty() && std::filesystem::equivalent(*side, scenario_, missing))
        throw UsageError("the output file " + *side + " is the scenario itself",
                         "name another file", "usage-input");
      const auto& trace = scenario.scenario.workload.trace;
      if (!side->empty() && trace &&
          std::filesystem::equivalent(*side, std::filesystem::path(scenario.folder) / trace->file,
                                      missing))
        throw UsageError("the output file " + *side + " is the scenario's trace",
                         "name another file", "usage-input");
    }
    // Opened before any work, so that a folder that cannot be written is found out at once.
    std::vector<SideFile> files = open_files();
    std::optional<report::StepLog> log;
    std::optional<StepWriter> writer;
    scenario::RunOptions options;
    if (!steps_.empty()) {
      log.emplace(steps_);
      options.steps = &writer.emplace(*log);
    }
    options.keep_requests =
        detailed_ || !requests_.empty() || !csv_.empty() || !vllm_bench_.empty();
    options.stop = &interrupt_flag();
    Progress progress(context, "run");
    options.progress = [&](std::int64_t ended, std::int64_t expected, Time now) {
      if (expected > 0)
        progress.update(static_cast<double>(ended) / static_cast<double>(expected));
      else
        progress.update(fmt::format("{} requests, {:.0f} s simulated", ended, to_seconds(now)));
    };
    const metrics::RunResult result =
        scenario::run_with_intervals(scenario, options, interval_options());

    report::Style style = result_style(scenario_);
    style.detailed = detailed_;
    style.seed = context.globals().seed;
    for (const Override& o : context.globals().overrides)
      style.sets.push_back(o.path + "=" + o.value);
    const Requirements::Judged judged = requirements.judge(result);
    if (context.json()) {
      context.print(report::render_json(result, style));
      for (const std::string& warning : result.warnings) context.warn("run-note", warning);
      for (const std::string& line : judged.lines) context.note(line);
    } else {
      style.checks = judged.lines;
      context.print(report::render_text(result, style));
    }
    const bool proved = !prove_ || prove(context, catalog, std::move(overrides), result);
    for (SideFile& side : files) {
      report::Style of = style;
      of.detailed = detailed_ || side.render == report::render_vllm_bench;
      side.file->write(side.render ? side.render(result, of)
                                   : report::junit_xml("kvsim run", judged.cases));
      side.file->commit();
    }
    if (log) log->commit();
    if (result.complete && proved) return judged.exit;
    return context.interrupted();
  }

 private:
  using Render = std::string (*)(const metrics::RunResult&, const report::Style&);
  struct SideFile {
    std::unique_ptr<config::OutputFile> file;
    Render render;  // null: the requirements as JUnit
  };

  scenario::IntervalOptions interval_options() const {
    if (intervals_ == "off" && seeds_)
      throw UsageError("--seeds widens the intervals that --intervals off leaves out",
                       "drop one of them", "usage-intervals");
    scenario::IntervalOptions options;
    if (intervals_) options.ends = *intervals_ == "off" ? scenario::Ends::off : scenario::Ends::on;
    options.seeds = seeds_.value_or(1);
    return options;
  }

  std::vector<SideFile> open_files() const {
    std::vector<SideFile> files;
    const auto open = [&](const std::string& path, Render render) {
      if (!path.empty()) files.push_back({std::make_unique<config::OutputFile>(path), render});
    };
    open(requests_, report::render_requests);
    open(csv_, report::render_csv);
    open(prometheus_, report::render_prometheus);
    open(html_, report::render_html);
    open(vllm_bench_, report::render_vllm_bench);
    open(junit_, nullptr);
    return files;
  }

  // The lever is a claim until it has been pulled: same traffic, one field changed. False:
  // interrupted.
  bool prove(Context& context, const spec::Catalog& catalog,
             std::vector<scenario::Override> overrides, const metrics::RunResult& before) const {
    const std::string& set = before.verdict.set;
    if (set.empty()) {
      context.note("the verdict names no lever that one field could pull");
      return true;
    }
    const auto equals = set.find('=');
    overrides.push_back({set.substr(0, equals), set.substr(equals + 1)});
    scenario::RunOptions options;
    options.stop = &interrupt_flag();
    metrics::RunResult after;
    try {
      after = scenario::run(scenario::load(scenario_, catalog, overrides, context.globals().seed),
                            options);
    } catch (const InputError& e) {
      context.note(
          fmt::format("lever {} cannot be pulled: {}", set, e.diagnostics().front().message));
      return true;
    }
    if (!after.complete) return false;
    const auto change = [](double from, double to) {
      return from > 0 ? fmt::format("{:+.1f} %", 100 * (to / from - 1)) : std::string("n/a");
    };
    const metrics::Summary &a = before.summary, &b = after.summary;
    context.note(fmt::format(
        "Proved by simulation, {}: mean TTFT {}, mean TPOT {}, output throughput {}, GPU hours {}",
        set, change(a.ttft_ms.mean, b.ttft_ms.mean), change(a.tpot_ms.mean, b.tpot_ms.mean),
        change(a.output_throughput, b.output_throughput),
        change(before.cost.gpu_hours, after.cost.gpu_hours)));
    return true;
  }

  std::string scenario_, steps_, requests_, csv_, vllm_bench_, prometheus_, html_, junit_;
  std::vector<std::string> requirements_;
  std::optional<std::string> intervals_;
  std::optional<int> seeds_;
  bool detailed_ = false;
  bool prove_ = false;
  bool no_collapse_ = false;
};

}  // namespace

std::unique_ptr<Command> make_run() { return std::make_unique<Run>(); }

}  // namespace kvsim::cli
