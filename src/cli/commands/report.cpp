#include <fmt/format.h>

#include <deque>

#include "cli/commands/makers.h"
#include "cli/requirements.h"
#include "cli/result_style.h"
#include "config/document.h"
#include "report/exporter.h"
#include "report/load.h"

namespace kvsim::cli {
namespace {

// Renderings that consist of requests alone.
bool is_per_request(std::string_view name) { return name == "csv" || name == "requests"; }

class Report final : public Command {
 public:
  void describe(Flags& flags) override {
    flags.example("kvsim report result.json", "the summary of a result that was kept");
    flags.example("kvsim report result.json --html page.html", "one page with tables and plots");
    flags.positional("RESULT", result_, "what run --json or run --requests-out wrote, or -")
        .require()
        .completes(Complete::file);
    flags.section("Renderings");
    for (const report::Exporter& exporter : report::exporters()) {
      if (exporter.name == "text" || exporter.name == "json") continue;
      wanted_.push_back({&exporter, {}});
      flags.option(fmt::format("--{}", exporter.name), wanted_.back().path, exporter.summary)
          .value("FILE")
          .completes(Complete::file);
    }
    flags.section("Flags");
    flags.option("--prometheus-prefix", prefix_, "put before metric names (default: kvsim:)")
        .value("TEXT");
    flags.option("--require", require_, "a demand such as 'p99_ttft_ms<=500'; a miss exits 1")
        .value("DEMAND");
    flags.option("--junit", junit_, "the demands as JUnit XML")
        .value("FILE")
        .completes(Complete::file);
  }

  Exit run(Context& context) override {
    const Requirements requirements(require_);
    const report::Loaded loaded = report::load_result(result_);
    if (loaded.requests_only && (!requirements.empty() || context.json())) {
      throw UsageError(fmt::format("{} holds requests alone, no summary", result_),
                       "give the document of run --json");
    }
    report::Style style = result_style("SCENARIO");
    if (prefix_) style.prometheus_prefix = *prefix_;
    style.detailed = !loaded.result.requests.empty();
    const Requirements::Judged judged = requirements.judge(loaded.result);

    bool rendered = false;
    for (const Wanted& wanted : wanted_) {
      if (wanted.path.empty()) continue;
      render(*wanted.exporter, wanted.path, loaded, style, context);
      rendered = true;
    }
    if (!junit_.empty())
      config::write_file(junit_, report::junit_xml("kvsim report", judged.cases));
    if (context.json()) {
      context.print(report::render_json(loaded.result, style));
      for (const std::string& line : judged.lines) context.note(line);
    } else if (!rendered || !judged.lines.empty()) {
      if (loaded.requests_only) throw no_summary();
      style.checks = judged.lines;
      context.print(report::render_text(loaded.result, style));
    }
    return judged.exit;
  }

 private:
  struct Wanted {
    const report::Exporter* exporter;
    std::string path;
  };

  UsageError no_summary() const {
    return UsageError(fmt::format("{} holds requests alone, no summary", result_),
                      "--csv FILE or --requests FILE render requests; for the rest give the "
                      "document of run --json");
  }

  void render(const report::Exporter& exporter, const std::string& path,
              const report::Loaded& loaded, const report::Style& style, Context& context) const {
    if (loaded.requests_only && !is_per_request(exporter.name)) throw no_summary();
    if (is_per_request(exporter.name) && loaded.result.requests.empty()) {
      throw UsageError(
          fmt::format("--{} needs the requests, which {} does not hold", exporter.name, result_),
          "run with --detailed, or with --requests-out FILE and report that file");
    }
    const std::string text = exporter.render(loaded.result, style);
    if (path == "-")
      context.print(text);
    else
      config::write_file(path, text);
  }

  std::string result_, junit_;
  std::optional<std::string> prefix_;
  std::vector<std::string> require_;
  std::deque<Wanted> wanted_;  // flags keep references to the paths
};

}  // namespace

std::unique_ptr<Command> make_report() { return std::make_unique<Report>(); }

}  // namespace kvsim::cli
