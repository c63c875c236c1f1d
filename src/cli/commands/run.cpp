#include <fmt/format.h>

#include <cstdlib>
#include <optional>
#include <string_view>

#include "cli/commands/makers.h"
#include "cli/commands/run_steps.h"
#include "cli/progress.h"
#include "config/document.h"
#include "report/exporter.h"
#include "report/step_log.h"
#include "scenario/run.h"

namespace kvsim::cli {
namespace {

bool has_utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (!value || !*value) continue;
    const std::string_view text(value);
    return text.find("UTF-8") != text.npos || text.find("utf8") != text.npos;
  }
  return false;
}

class Run final : public Command {
 public:
  void describe(Flags& flags) override {
    flags.positional("SCENARIO", scenario_, "scenario file, or - for standard input").require().completes(Complete::file);
    flags.section("More outputs");
    flags.option("--steps", steps_, "log of every engine step, one JSON line each").value("FILE").completes(Complete::file);
    flags.option("--requests-out", requests_, "one JSON line per request, with its times").value("FILE").completes(Complete::file);
    flags.option("--csv", csv_, "one row per request").value("FILE").completes(Complete::file);
    flags.option("--vllm-bench", vllm_bench_, "the result as vllm bench serve writes it").value("FILE").completes(Complete::file);
    flags.option("--prometheus", prometheus_, "metrics under vLLM's names").value("FILE").completes(Complete::file);
    flags.option("--html", html_, "a page with tables and plots").value("FILE").completes(Complete::file);
    flags.flag("--no-collapse", no_collapse_, "one event per engine step; this version always does so");
    flags.example("kvsim run scenarios/chat-70b.json", "what this traffic will see");
    flags.example("kvsim run s.json --set cluster.pools.0.replicas=4", "the same with four replicas");
  }

  Exit run(Context& context) override {
    std::vector<scenario::Override> overrides;
    for (const Override& o : context.globals().overrides) overrides.push_back({o.path, o.value});
    const spec::Catalog catalog(context.catalog_folders());
    const scenario::Resolved scenario = scenario::load(scenario_, catalog, overrides, context.globals().seed);

    std::optional<report::StepLog> log;
    std::optional<StepWriter> writer;
    scenario::RunOptions options;
    if (!steps_.empty()) {
      log.emplace(steps_);
      options.steps = &writer.emplace(*log);
    }
    options.keep_requests = !requests_.empty() || !csv_.empty() || !vllm_bench_.empty();
    options.stop = &interrupt_flag();
    Progress progress(context, "run");
    options.progress = [&](std::int64_t ended, std::int64_t expected, Time now) {
      if (expected > 0) progress.update(static_cast<double>(ended) / static_cast<double>(expected));
      else progress.update(fmt::format("{} requests, {:.0f} s simulated", ended, to_seconds(now)));
    };
    const metrics::RunResult result = scenario::run(scenario, options);

    report::Style style;
    style.scenario = scenario_;
    if (!has_utf8_locale()) style.glyphs = report::Glyphs::ascii;
    for (const std::string& warning : result.warnings) context.warn("run-note", warning);
    if (context.json()) context.print(report::render_json(result, style));
    else context.print(report::render_text(result, style));
    write_files(result, style);
    if (log) log->commit();
    if (!result.complete) throw Interrupted();
    return Exit::ok;
  }

 private:
  void write_files(const metrics::RunResult& result, report::Style style) const {
    const auto write = [&](const std::string& path, std::string (*render)(const metrics::RunResult&, const report::Style&)) {
      if (!path.empty()) config::write_file(path, render(result, style));
    };
    write(requests_, report::render_requests);
    write(csv_, report::render_csv);
    write(prometheus_, report::render_prometheus);
    write(html_, report::render_html);
    style.detailed = true;
    write(vllm_bench_, report::render_vllm_bench);
  }

  std::string scenario_, steps_, requests_, csv_, vllm_bench_, prometheus_, html_;
  bool no_collapse_ = false;
};

}  // namespace

std::unique_ptr<Command> make_run() { return std::make_unique<Run>(); }

}  // namespace kvsim::cli
