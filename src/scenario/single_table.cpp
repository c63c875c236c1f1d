#include "scenario/single_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "units/format.h"

namespace kvsim::scenario {
namespace {

// The setting under which an engine charges window layers their full length.
std::string_view full_length_like(memory::Engine engine) {
  switch (engine) {
    case memory::Engine::sglang:
      return "SGLang with --disable-hybrid-swa-memory";
    case memory::Engine::vllm_v1:
      return "vLLM with --disable-hybrid-kv-cache-manager";
    case memory::Engine::trtllm:
      return "one pool for all layers";
    case memory::Engine::static_batching:
    case memory::Engine::llamacpp:
      return "slots hold all layers";
  }
  return {};
}

// What the layers of the deciding stage take.
struct Demand {
  double per_token = 0;  // bytes of a token in layers that keep tokens
  double states = 0;     // bytes of a request's recurrent states
  bool windows = false;
};

Demand demand(const memory::Pool& pool) {
  Demand d;
  for (const kvformat::GroupFootprint& g : pool.footprint.groups) {
    if (g.attention == spec::AttentionKind::recurrent) {
      d.states += static_cast<double>(g.layers) * g.bytes_per_sequence_layer;
    } else {
      d.per_token += g.bytes_per_token();
      d.windows |= g.window > 0;
    }
  }
  return d;
}

}  // namespace

void settle_reuse(const spec::ModelSpec& model, engine::EngineConfig& c,
                  std::vector<std::string>& warnings) {
  const bool states = std::ranges::any_of(
      model.layer_groups, [](const spec::LayerGroup& g) { return g.recurrent.has_value(); });
  const bool other = c.profile == "sglang" || c.profile == "trtllm";
  if (!states || !other || !c.enable_prefix_caching) return;
  c.enable_prefix_caching = false;
  c.sglang.disable_radix_cache = true;
  c.sglang.enable_hierarchical_cache = false;
  c.trtllm.host_cache_size = Bytes(0);
  c.trtllm.token_range_retention.clear();
  warnings.push_back(
      fmt::format("the recurrent states of {} are not kept for reuse under the profile {}: no "
                  "prefix caching",
                  model.id, c.profile));
}

std::int64_t single_table_blocks(const memory::Pool& pool, engine::EngineConfig& c,
                                 std::vector<std::string>& warnings) {
  const bool sglang = pool.options.rules.engine == memory::Engine::sglang;
  const Demand d = demand(pool);
  if (!d.windows && (d.states == 0 || sglang)) return pool.num_gpu_blocks;
  double room = static_cast<double>(pool.ledger.kv.value());
  if (d.states > 0 && !sglang) {
    // No more requests than fit at full length get a state: what is left holds their tokens.
    const auto fit =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(std::max(pool.max_concurrency, 0.0)));
    c.max_num_seqs = std::min(*c.max_num_seqs, fit);
    const double reserve = d.states * static_cast<double>(*c.max_num_seqs);
    room -= reserve;
    warnings.push_back(fmt::format(
        "recurrent states of {} requests are set aside, {} per GPU: max_num_seqs is {}",
        *c.max_num_seqs, format_bytes(Bytes(static_cast<std::int64_t>(reserve))), *c.max_num_seqs));
  }
  if (d.per_token == 0) return *c.max_num_seqs;
  const std::int64_t blocks = std::max<std::int64_t>(
      0, static_cast<std::int64_t>(room / (d.per_token * static_cast<double>(pool.block_tokens))));
  if (d.windows)
    warnings.push_back(fmt::format(
        "window layers are charged their full length ({}): {} blocks, a lower bound; `kvsim plan` "
        "charges them their window and has {}",
        full_length_like(pool.options.rules.engine), blocks, pool.num_gpu_blocks));
  return blocks;
}

}  // namespace kvsim::scenario
