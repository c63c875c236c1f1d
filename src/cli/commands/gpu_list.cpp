#include <fmt/format.h>

#include "cli/catalog_view.h"
#include "cli/commands/makers.h"
#include "config/echo.h"
#include "report/table.h"
#include "spec/catalog.h"
#include "units/format.h"

namespace kvsim::cli {
namespace {

std::string rate(double tflops) { return tflops > 0 ? fmt::format("{}", tflops) : "-"; }

class GpuListCommand final : public Command {
 public:
  void describe(Flags& flags) override {
    flags.example("kvsim gpu list", "every accelerator of the catalog");
    flags.positional("WORD", word_, "only GPUs whose id holds this");
  }

  Exit run(Context& context) override {
    const spec::Catalog catalog(context.catalog_folders());
    GpuList list;
    for (const std::string& id : catalog.gpu_ids())
      if (id.find(word_) != std::string::npos) list.gpus.push_back(gpu_row(catalog.gpu(id)));
    if (context.json()) {
      context.print(config::echo_json(list, "kvsim.gpu_list/1") + "\n");
      return Exit::ok;
    }
    using enum report::Align;
    report::Table table({{"GPU"},
                         {"usable GiB", right},
                         {"GB/s", right},
                         {"bf16 TFLOP/s", right},
                         {"fp8", right},
                         {"link"},
                         {"GB/s each way", right},
                         {"watt", right},
                         {"verified"}});
    for (const GpuRow& g : list.gpus)
      table.row({g.id, fmt::format("{:.2f}", to_gib(g.usable_memory)),
                 format_integer(static_cast<std::int64_t>(g.memory_bandwidth.value() / 1e9)),
                 rate(g.bf16_tflops), rate(g.fp8_tflops), g.link.empty() ? "PCIe" : g.link,
                 g.link.empty() ? "" : fmt::format("{}", g.link_bandwidth.value() / 1e9),
                 fmt::format("{}", g.tdp_w), g.verified});
    if (!table.empty()) context.print(table.text());
    context.print(fmt::format(
        "{} GPU{}; rates are dense peaks; verified Y read in a source, P partly, N recalled\n",
        list.gpus.size(), list.gpus.size() == 1 ? "" : "s"));
    return Exit::ok;
  }

 private:
  std::string word_;
};

}  // namespace

std::unique_ptr<Command> make_gpu_list() { return std::make_unique<GpuListCommand>(); }

}  // namespace kvsim::cli
