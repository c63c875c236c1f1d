#include <fmt/format.h>

#include "cli/commands/makers.h"
#include "config/echo.h"
#include "report/table.h"
#include "report/wrap.h"
#include "spec/catalog.h"
#include "units/format.h"

namespace kvsim::cli {
namespace {

std::string memory_text(Bytes size) {
  return fmt::format("{} ({})", format_bytes(size), format_bytes_decimal(size));
}

class GpuShow final : public Command {
 public:
  void describe(Flags& flags) override {
    flags.example("kvsim gpu show h100-sxm", "one accelerator, figure by figure, with sources");
    flags.positional("GPU", gpu_, "catalog id, alias, or path of a kvsim GPU file")
        .require()
        .completes(Complete::gpu);
  }

  Exit run(Context& context) override {
    const spec::GpuSpec gpu = spec::Catalog(context.catalog_folders()).resolve_gpu(gpu_);
    if (context.json())
      context.print(config::echo_json(gpu, spec::gpu_schema) + "\n");
    else
      print_text(gpu, context);
    return Exit::ok;
  }

 private:
  static void print_text(const spec::GpuSpec& g, Context& context) {
    report::Table table({{""}, {""}});
    const auto rate = [&](const char* name, double value, const char* unit) {
      if (value > 0) table.row({name, fmt::format("{} {}", value, unit)});
    };
    table.row({"made by", fmt::format("{}, {}", g.vendor, g.architecture)});
    table.row({"memory", memory_text(g.memory)});
    if (g.memory_reported) table.row({"as reported", memory_text(*g.memory_reported)});
    table.row({"bandwidth", format_bandwidth(g.memory_bandwidth)});
    rate("fp32", g.fp32_tflops, "TFLOP/s");
    rate("tf32", g.tf32_tflops, "TFLOP/s dense");
    rate("bf16", g.bf16_tflops, "TFLOP/s dense");
    rate("fp8", g.fp8_tflops, "TFLOP/s dense");
    rate("fp4", g.fp4_tflops, "TFLOP/s dense");
    rate("int8", g.int8_tops, "TOP/s dense");
    rate("L2", g.l2_mb, "MB");
    if (g.sm_count > 0) table.row({"SMs or CUs", fmt::format("{}", g.sm_count)});
    table.row({"GPU link", g.link.empty() ? "none"
                                          : fmt::format("{}, {} each way", g.link,
                                                        format_bandwidth(g.link_bandwidth))});
    if (g.pcie_gen > 0)
      table.row(
          {"PCIe", fmt::format("{}, {} each way", g.pcie_gen, format_bandwidth(g.pcie_bandwidth))});
    if (g.nic_bandwidth.value() > 0)
      table.row({"network", fmt::format("{} each way", format_bandwidth(g.nic_bandwidth))});
    rate("power", g.tdp_w, "W");
    if (g.price_usd_h_low)
      table.row(
          {"rent seen", g.price_usd_h_high
                            ? fmt::format("{} to {} USD/h", *g.price_usd_h_low, *g.price_usd_h_high)
                            : fmt::format("from {} USD/h", *g.price_usd_h_low)});
    table.row({"verified", g.verified == "Y"   ? "yes"
                           : g.verified == "P" ? "partly"
                                               : "no: recalled"});
    context.print(fmt::format("{}\n{}\nsources\n", context.paint(g.id, Ink::bold), table.text(2)));
    for (const std::string& source : g.sources) context.print("  " + report::wrap(source, 96, 4));
    if (!g.notes.empty()) context.print("\nnotes\n  " + report::wrap(g.notes, 96, 2));
  }

  std::string gpu_;
};

}  // namespace

std::unique_ptr<Command> make_gpu_show() { return std::make_unique<GpuShow>(); }

}  // namespace kvsim::cli
