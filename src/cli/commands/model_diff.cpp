#include <fmt/format.h>

#include "cli/catalog_view.h"
#include "cli/commands/makers.h"
#include "config/echo.h"
#include "report/table.h"
#include "spec/catalog.h"

namespace kvsim::cli {
namespace {

class ModelDiffCommand final : public Command {
 public:
  void describe(Flags& flags) override {
    flags.example("kvsim model diff llama-3-70b llama-3.1-70b", "what differs, field by field");
    flags.example("kvsim model diff ./config.json qwen3-8b",
                  "whether an import agrees with the catalog");
    flags.positional("A", a_, "catalog id, alias or path").require().completes(Complete::model);
    flags.positional("B", b_, "the same").require().completes(Complete::model);
  }

  Exit run(Context& context) override {
    const spec::Catalog catalog(context.catalog_folders());
    const ModelDiff diff = model_diff(catalog.resolve_model(a_), catalog.resolve_model(b_));
    if (context.json()) {
      context.print(config::echo_json(diff, "kvsim.model_diff/1") + "\n");
      return Exit::ok;
    }
    report::Table table({{"field"}, {diff.a}, {diff.b}});
    for (const FieldChange& c : diff.differences)
      table.row({c.field, c.a.empty() ? "-" : c.a, c.b.empty() ? "-" : c.b});
    if (!table.empty()) context.print(table.text());
    context.print(diff.differences.empty()
                      ? fmt::format("{} and {} are the same but for their names\n", diff.a, diff.b)
                      : fmt::format("{} differ{}\n",
                                    diff.differences.size() == 1
                                        ? "1 field"
                                        : fmt::format("{} fields", diff.differences.size()),
                                    diff.differences.size() == 1 ? "s" : ""));
    return Exit::ok;
  }

 private:
  std::string a_, b_;
};

}  // namespace

std::unique_ptr<Command> make_model_diff() { return std::make_unique<ModelDiffCommand>(); }

}  // namespace kvsim::cli
