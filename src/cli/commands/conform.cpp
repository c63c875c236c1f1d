#include "conform/conformance.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "cli/commands/makers.h"
#include "cli/progress.h"
#include "report/conformance.h"
#include "spec/catalog.h"
#include "units/format.h"

namespace kvsim::cli {
namespace {

class Conform final : public Command {
 public:
  void describe(Flags& flags) override {
    flags
        .positional("FILES", files_,
                    "recorded cases, one JSON object per line; .gz and .zst too; - is stdin")
        .completes(Complete::file)
        .require();
    flags
        .option("--only", only_,
                "the case of this id, or the cases whose ids begin so; all if unset")
        .value("ID");
    flags.option("--show", show_, "how many of the cases that differ to show in the text")
        .range(config::between(1, 1000));
    flags.option("--jobs,-j", jobs_, "cases at a time; unset: one per processor")
        .range(config::between(1, 1024));
    flags.example("kvsim conform vllm_blocks.jsonl.gz",
                  "does the block manager do what vLLM's did");
    flags.example("kvsim conform traces/*.jsonl --json",
                  "counts by family, for scripts; exit 1 when a case differs");
  }

  Exit run(Context& context) override {
    const spec::Catalog catalog(context.catalog_folders());
    conform::ConformOptions options;
    options.only = only_;
    options.shown = static_cast<std::size_t>(show_);
    options.jobs =
        jobs_.value_or(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
    options.stop = &interrupt_flag();
    Progress progress(context, "conform");
    options.progress = [&](std::int64_t cases) {
      progress.update(fmt::format("{} cases", format_integer(cases)));
    };
    const conform::Conformance result = conform::conform(files_, catalog, options);
    context.print(context.json() ? report::conformance_json(result)
                                 : report::conformance_text(result));
    if (!result.complete) return context.interrupted();
    return result.matched() == result.cases() ? Exit::ok : Exit::no;
  }

 private:
  std::vector<std::string> files_;
  std::string only_;
  std::int64_t show_ = 1;
  std::optional<int> jobs_;
};

}  // namespace

std::unique_ptr<Command> make_conform() { return std::make_unique<Conform>(); }

}  // namespace kvsim::cli
