#include <fmt/format.h>

#include "cli/catalog_view.h"
#include "cli/commands/makers.h"
#include "config/echo.h"
#include "report/table.h"
#include "report/wrap.h"
#include "spec/catalog.h"
#include "units/format.h"

namespace kvsim::cli {
namespace {

std::string billions(double x) { return fmt::format("{} 10^9", format_significant(x)); }

std::string experts_line(const spec::MoE& moe) {
  std::string text =
      fmt::format("{} routed of width {}, {} per token", moe.num_experts,
                  format_integer(moe.moe_intermediate_size), moe.num_experts_per_tok);
  if (moe.shared_size() > 0) text += fmt::format(", shared {}", format_integer(moe.shared_size()));
  if (moe.first_dense_layers > 0)
    text += fmt::format("; first {} layers dense", moe.first_dense_layers);
  if (moe.layer_step > 1) text += fmt::format("; every {} layers", moe.layer_step);
  return text;
}

std::string weights_line(const spec::ModelSpec& m) {
  const spec::Quantization& q = m.quantization;
  std::string text(spec::name(m.dtype));
  if (q.method == "none") return text;
  text = fmt::format("{}, {} bits per weight with scales", q.method,
                     format_significant(q.bits_with_scales()));
  if (q.experts_only)
    text += q.other_bits > 0 ? fmt::format(", routed experts only; others {:g} bits", q.other_bits)
                             : ", routed experts only";
  else if (q.attention_wide)
    text += ", attention excepted";
  if (!q.kv_cache_dtype.empty()) text += fmt::format("; KV cache {}", q.kv_cache_dtype);
  return text;
}

class ModelShow final : public Command {
 public:
  void describe(Flags& flags) override {
    flags.example("kvsim model show deepseek-v3", "dimensions, layer groups, KV bytes, sources");
    flags.example("kvsim model show ./config.json --json",
                  "the same of a Hugging Face configuration");
    flags.positional("MODEL", model_, "catalog id, alias, or path of a kvsim model or config.json")
        .require()
        .completes(Complete::model);
    flags.option("--kv-cache-dtype", dtype_, "format of the KV figures (default: bfloat16)")
        .words(kvformat::kv_dtype_names());
  }

  Exit run(Context& context) override {
    const spec::ModelSpec model = spec::Catalog(context.catalog_folders()).resolve_model(model_);
    const ModelView view = model_view(model, kvformat::resolve_kv_dtype(dtype_, model));
    if (context.json())
      context.print(config::echo_json(view, "kvsim.model_view/1") + "\n");
    else
      print_text(view, context);
    return Exit::ok;
  }

 private:
  static void print_text(const ModelView& view, Context& context) {
    const spec::ModelSpec& m = view.model;
    report::Table facts({{""}, {""}});
    facts.row({"family", m.architecture.empty()
                             ? m.family
                             : fmt::format("{} ({})", m.family, m.architecture)});
    facts.row(
        {"parameters", fmt::format("{} counted from dimensions{}",
                                   billions(static_cast<double>(view.counted_params) / 1e9),
                                   m.total_params_b > 0
                                       ? fmt::format(", {} published", billions(m.total_params_b))
                                       : "")});
    facts.row(
        {"active", fmt::format("{} per token",
                               billions(static_cast<double>(view.counted_active_params) / 1e9))});
    facts.row({"layers", fmt::format("{}, hidden {}, vocabulary {}{}", m.num_layers,
                                     format_integer(m.hidden_size), format_integer(m.vocab_size),
                                     m.tie_word_embeddings ? ", tied" : "")});
    if (m.intermediate_size > 0)
      facts.row({"MLP", fmt::format("{}{}", format_integer(m.intermediate_size),
                                    m.gated_mlp ? ", gated" : "")});
    if (m.moe) facts.row({"experts", experts_line(*m.moe)});
    if (m.num_mtp_layers > 0) facts.row({"MTP layers", fmt::format("{}", m.num_mtp_layers)});
    facts.row({"weights", weights_line(m)});
    facts.row({"context", format_integer(m.max_position_embeddings)});
    context.print(fmt::format("{}\n{}", context.paint(m.id, Ink::bold), facts.text(2)));

    using enum report::Align;
    report::Table table({{"group"},
                         {"layers", right},
                         {"attention"},
                         {"heads", right},
                         {"KV heads", right},
                         {"width", right},
                         {"bytes per token", right},
                         {"per sequence", right}});
    for (const GroupRow& g : view.groups)
      table.row({g.name, fmt::format("{}", g.layers), g.attention, format_integer(g.num_heads),
                 format_integer(g.num_kv_heads), format_integer(g.head_dim),
                 format_integer(g.bytes_per_token), format_integer(g.bytes_per_sequence)});
    table.rule();
    table.row({"all", fmt::format("{}", m.num_layers), "", "", "", "",
               format_integer(view.kv_bytes_per_token),
               format_integer(view.kv_bytes_per_sequence)});
    context.print(
        fmt::format("\nKV of the whole model in {}\n{}", view.kv_cache_dtype, table.text(2)));
    if (view.kv_bytes_per_sequence_extra > 0)
      context.print(fmt::format("  besides, {} bytes of compressor state per sequence\n",
                                format_integer(view.kv_bytes_per_sequence_extra)));
    context.print("\nsources\n");
    for (const std::string& source : m.sources) context.print("  " + report::wrap(source, 96, 4));
    if (!m.notes.empty()) context.print("\nnotes\n  " + report::wrap(m.notes, 96, 2));
  }

  std::string model_, dtype_ = "bfloat16";
};

}  // namespace

std::unique_ptr<Command> make_model_show() { return std::make_unique<ModelShow>(); }

}  // namespace kvsim::cli
