#include <fmt/format.h>

#include "cli/catalog_view.h"
#include "cli/commands/makers.h"
#include "config/echo.h"
#include "report/table.h"
#include "spec/catalog.h"
#include "units/format.h"

namespace kvsim::cli {
namespace {

std::string billions(double x) { return x > 0 ? fmt::format("{}", x) : "-"; }

class ModelListCommand final : public Command {
 public:
  void describe(Flags& flags) override {
    flags.example("kvsim model list", "every model with its size and what a token of KV takes");
    flags.example("kvsim model list qwen3 --json", "those whose id holds a word, as a document");
    flags.positional("WORD", word_, "only models whose id holds this");
  }

  Exit run(Context& context) override {
    const spec::Catalog catalog(context.catalog_folders());
    ModelList list;
    for (const std::string& id : catalog.model_ids())
      if (id.find(word_) != std::string::npos) list.models.push_back(model_row(catalog.model(id)));
    if (context.json()) {
      context.print(config::echo_json(list, "kvsim.model_list/1") + "\n");
      return Exit::ok;
    }
    using enum report::Align;
    report::Table table({{"model"},
                         {"params 10^9", right},
                         {"active", right},
                         {"KV B/token", right},
                         {"B/sequence", right},
                         {"context", right},
                         {"attention layers"}});
    for (const ModelRow& m : list.models)
      table.row({m.id, billions(m.total_params_b), billions(m.active_params_b),
                 format_integer(m.kv_bytes_per_token), format_integer(m.kv_bytes_per_sequence),
                 format_integer(m.max_position_embeddings), m.attention});
    if (!table.empty()) context.print(table.text());
    context.print(fmt::format("{} model{}; KV of the whole model in bfloat16\n", list.models.size(),
                              list.models.size() == 1 ? "" : "s"));
    return Exit::ok;
  }

 private:
  std::string word_;
};

}  // namespace

std::unique_ptr<Command> make_model_list() { return std::make_unique<ModelListCommand>(); }

}  // namespace kvsim::cli
