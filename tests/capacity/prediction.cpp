#include "capacity/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "cli/commands/plan_flags.h"
#include "cli/parser.h"
#include "kvformat/kv_dtype.h"
#include "spec/catalog.h"
#include "spec/parameters.h"
#include "units/parse.h"

namespace kvsim::testing {
namespace {

const spec::Catalog& catalog() {
  static const spec::Catalog all;
  return all;
}

// What calculators do: nameplate memory, weights by parameters and bits, nothing else.
double plain_token_bytes(const planner::Request& r, const memory::Pool& pool) {
  double token = 0;
  for (const spec::LayerGroup& g : r.model.layer_groups) {
    const double layers = static_cast<double>(
        r.model.layers_in(static_cast<std::size_t>(&g - r.model.layer_groups.data())));
    const double elements = g.attention == spec::AttentionKind::mla
                                ? static_cast<double>(g.kv_lora_rank + g.qk_rope_head_dim)
                                : 2.0 * static_cast<double>(g.num_kv_heads * g.head_dim) /
                                      r.options.plan.tensor_parallel_size;
    token += layers * elements * pool.options.kv_dtype.bits_per_element() / 8;
  }
  return token;
}

double plain_formula(const planner::Request& r, const memory::Pool& pool, double token) {
  const spec::Quantization& q = r.model.quantization;
  const double bits = q.method == "none" ? spec::bits(r.model.dtype) : q.bits;
  const double parameters = static_cast<double>(spec::count_parameters(r.model).total());
  const double weights = parameters * bits / 8 / r.options.plan.gpus();
  const double fraction = pool.options.memory_fraction.value_or(0.9);
  const double nameplate = static_cast<double>(r.gpu.memory.value());
  return token > 0 ? std::max(0.0, nameplate * fraction - weights) / token : 0;
}

}  // namespace

Answer ask(const Request& request, const Report& report, std::optional<double> kv_gib) {
  const auto colon = request.gpu.find(':');
  std::vector<std::string> words{request.model, "--gpu", request.gpu.substr(0, colon)};
  if (!request.version.empty()) words.insert(words.end(), {"--engine-version", request.version});
  std::istringstream flags(request.flags);
  for (std::string word; flags >> word;) words.push_back(word);
  const bool length = std::find(words.begin(), words.end(), "--max-model-len") != words.end();
  if (!length && !report.text("max_model_len").empty())
    words.insert(words.end(), {"--max-model-len", report.text("max_model_len")});
  if (kv_gib)
    words.insert(words.end(), {"--kv-cache-memory-bytes", fmt::format("{:.6f}GiB", *kv_gib)});
  cli::Flags description;
  cli::PlanFlags flags_of_plan;
  flags_of_plan.describe(description);
  cli::parse(words, description, "plan");
  planner::Request r = planner::resolved(flags_of_plan.request(catalog()));
  if (colon != std::string::npos)
    r.options.stated.total = parse_bytes(request.gpu.substr(colon + 1) + "GiB");
  Answer answer;
  answer.pool = memory::size_pool(r.model, r.gpu, r.options);
  answer.plain_token_bytes = plain_token_bytes(r, answer.pool);
  answer.plain_tokens = plain_formula(r, answer.pool, answer.plain_token_bytes);
  return answer;
}

std::int64_t tokens_of_geometry(const Geometry& g, const Report& report, double kv_gib) {
  spec::ModelSpec m;
  m.id = "geometry";
  m.num_layers = static_cast<std::int64_t>(g.layers);
  m.hidden_size = m.vocab_size = 1024;
  m.intermediate_size = 2048;
  m.max_position_embeddings = 1 << 20;
  spec::LayerGroup group;
  group.name = "full";
  kvformat::KvDtype dtype = *kvformat::find_kv_dtype("bfloat16");
  if (g.element_bytes == 1) dtype = *kvformat::find_kv_dtype("fp8");
  if (g.element_bytes == 4) dtype = *kvformat::find_kv_dtype("f32");
  if (g.element_bytes == 1.0625) dtype = *kvformat::find_kv_dtype("q8_0");
  if (g.element_bytes == 0.5625) dtype = *kvformat::find_kv_dtype("q4_0");
  const auto tp = static_cast<int>(g.tp);
  const auto heads = static_cast<std::int64_t>(g.kv_heads);
  const auto width = static_cast<std::int64_t>(g.width);
  group.num_heads = heads;
  while (group.num_heads % tp != 0) group.num_heads += heads;
  if (g.family == "mla") {
    group.attention = spec::AttentionKind::mla;
    group.num_heads = 64;
    group.qk_rope_head_dim = 64, group.qk_nope_head_dim = 128, group.v_head_dim = 128;
    group.kv_lora_rank = width - 64;
    if (width == 656) {
      group.kv_lora_rank = 512;
      group.indexer.emplace();
      group.indexer->heads = 64, group.indexer->head_dim = 128, group.indexer->top_k = 2048;
    }
  } else {
    group.num_kv_heads = heads;
    group.head_dim = width;
  }
  m.layer_groups = {group};
  Diagnostics problems;
  spec::finalize(m, "geometry", problems);
  problems.throw_if_errors();
  const std::string engine = report.text("engine");
  memory::Options o;
  o.rules = memory::resolve_rules(engine == "sglang"         ? memory::Engine::sglang
                                  : engine == "tensorrt-llm" ? memory::Engine::trtllm
                                  : engine == "llama.cpp"    ? memory::Engine::llamacpp
                                                             : memory::Engine::vllm_v1,
                                  "");
  o.kv_dtype = dtype;
  o.plan.tensor_parallel_size = tp;
  o.max_model_len = static_cast<std::int64_t>(report.number("max_model_len").value_or(4096));
  o.block_tokens = static_cast<std::int64_t>(report.number("block_size").value_or(0));
  o.kv_cache_memory = {
      Bytes(static_cast<std::int64_t>(std::llround(kv_gib * static_cast<double>(gib))))};
  // Whole blocks: what versions before 0.20 print.
  if (o.rules.engine == memory::Engine::vllm_v1)
    o.rules = memory::resolve_rules(memory::Engine::vllm_v1, "0.18");
  return memory::size_pool(m, catalog().gpu("h100-sxm"), o).tokens;
}

}  // namespace kvsim::testing
