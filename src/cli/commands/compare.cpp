#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "cli/commands/makers.h"
#include "compare/comparison.h"
#include "config/document.h"
#include "diag/suggest.h"
#include "report/junit.h"

namespace kvsim::cli {
namespace {

class Compare final : public Command {
 public:
  void describe(Flags& flags) override {
    flags.example("kvsim compare base.json new.json",
                  "exit 1 when a figure got worse by over 0.5 %");
    flags.example("kvsim compare bench.json result.json --tolerance ttft_ms=10%",
                  "a benchmark against its simulation");
    flags.positional("BASE", base_, "a result of run --json, or what vllm bench serve wrote")
        .require()
        .completes(Complete::file);
    flags.positional("NEW", now_, "the same, to be judged").require().completes(Complete::file);
    flags
        .option("--tolerance", tolerance_,
                "NAME=LIMIT,...: path, name or family (ttft_ms), or default (0.5%)")
        .value("LIST");
    flags.option("--ignore", ignore_, "leave out this path and what is below it").value("PATH");
    flags.option("--format", format_, "of the output (default: text)")
        .words({"text", "markdown", "json"});
    flags.option("--junit", junit_, "every compared figure as JUnit XML")
        .value("FILE")
        .completes(Complete::file);
    flags
        .option("--annotations", annotations_,
                "workflow commands; github is the default under GITHUB_ACTIONS")
        .words({"github", "none"});
  }

  Exit run(Context& context) override {
    compare::Options options;
    options.ignore = ignore_;
    for (const std::string& text : tolerance_) {
      const std::string problem = compare::parse_tolerances(text, options.tolerances);
      if (!problem.empty()) throw UsageError("--tolerance: " + problem, {}, "usage-tolerance");
    }
    const config::Document base = config::Document::load(base_, config::Comments::forbidden);
    const config::Document now = config::Document::load(now_, config::Comments::forbidden);
    const compare::Figures known(base), also(now);
    for (const auto& [name, limit] : options.tolerances.by_name)
      require_known("--tolerance", name, known, also);
    for (const std::string& name : options.ignore) require_known("--ignore", name, known, also);

    const compare::Comparison comparison = compare::compare(base, now, options);
    const bool json = context.json() || format_ == "json";
    context.print(json                    ? to_json(comparison)
                  : format_ == "markdown" ? to_markdown(comparison)
                                          : to_text(comparison));
    if (!junit_.empty())
      config::write_file(junit_, report::junit_xml("kvsim compare", cases(comparison)));
    annotate(comparison, json, context);
    return comparison.count(compare::Change::regressed) > 0 ? Exit::no : Exit::ok;
  }

 private:
  // A misspelt name would otherwise loosen or ignore nothing, in silence.
  static void require_known(std::string_view flag, const std::string& name,
                            const compare::Figures& base, const compare::Figures& now) {
    std::vector<std::string> names = base.names();
    for (std::string& more : now.names()) names.push_back(std::move(more));
    for (const char* family : {"ttft_ms", "tpot_ms", "itl_ms", "e2el_ms", "kv", "cost", "summary"})
      names.emplace_back(family);
    for (const std::string& known : names) {
      if (known == name || "summary." + known == name || known.ends_with('_' + name)) return;
    }
    throw UsageError(fmt::format("{}: neither result has a figure \"{}\"", flag, name),
                     suggestion(name, names), "usage-figure");
  }

  static std::vector<report::JunitCase> cases(const compare::Comparison& comparison) {
    std::vector<report::JunitCase> out;
    for (const compare::Difference& d : comparison.differences) {
      out.push_back(
          {d.path, d.change == compare::Change::regressed
                       ? fmt::format("{} -> {}, limit {:g} %", *d.base, *d.now, d.limit * 100)
                       : std::string()});
    }
    return out;
  }

  // Workflow commands count on either stream; a document on stdout stays alone there.
  void annotate(const compare::Comparison& comparison, bool json, Context& context) const {
    const char* actions = std::getenv("GITHUB_ACTIONS");
    const bool wanted = annotations_ == "github" || (annotations_.empty() && actions != nullptr &&
                                                     std::string_view(actions) == "true");
    if (!wanted) return;
    const std::string text = to_github(comparison);
    if (json || !context.output().is_stdout())
      std::fwrite(text.data(), 1, text.size(), stderr);
    else
      context.print(text);
  }

  std::string base_, now_, format_ = "text", junit_, annotations_;
  std::vector<std::string> tolerance_, ignore_;
};

}  // namespace

std::unique_ptr<Command> make_compare() { return std::make_unique<Compare>(); }

}  // namespace kvsim::cli
