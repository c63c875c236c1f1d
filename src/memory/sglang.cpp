#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "memory/sizing.h"
#include "units/format.h"

// SGLang (model_runner.py and kv_cache_configurator.py, 2026-07): KV and state pools = free after
// weights - free before load * (1 - mem_fraction_static). Activations and graphs live in the
// 1 - fraction part and are compared with it.
namespace kvsim::memory {
namespace {

double wide(std::int64_t n) { return static_cast<double>(n); }
std::int64_t down(double x) { return static_cast<std::int64_t>(std::floor(x)); }

struct Growth {
  double full = 0;     // bytes of a token in layers that keep every token, the drafter's included
  double windows = 0;  // in windowed layers
  double states = 0;   // of one sequence
};

Growth growth(const Pool& pool) {
  const Options& o = pool.options;
  Growth g;
  const auto dcp = wide(o.decode_context_parallel_size);
  for (const auto& f : pool.footprint.groups) {
    if (f.attention == spec::AttentionKind::recurrent) {
      g.states += wide(f.layers) * f.bytes_per_sequence_layer;
    } else if (f.window > 0) {
      g.windows += f.bytes_per_token();
    } else {
      // The rank's slot holds its share of the latents and every token's indexer key.
      g.full += wide(f.layers) * f.bytes_per_token_layer / dcp +
                wide(f.index_layers) * f.index_bytes_per_token;
    }
  }
  return g;
}

}  // namespace

void size_sglang(Pool& pool, const spec::ModelSpec& model, const std::vector<Stage>& stages) {
  const Options& o = pool.options;
  const Stage& stage = take_poorest(pool, stages);
  Ledger& l = pool.ledger;
  const Bytes before = std::max(l.total - l.non_torch, Bytes(0));
  l.reserve = Bytes(down(wide(before.value()) * (1 - *o.memory_fraction)));
  l.add("reserve", l.reserve,
        fmt::format("1 - mem_fraction_static ({:g}): activations and graphs live here",
                    *o.memory_fraction));
  const Growth g = growth(pool);
  if (g.states > 0 && o.kv_cache_memory.empty()) {
    const Bytes free = std::max(l.total - l.weights - l.non_torch - l.reserve, Bytes(0));
    l.state = Bytes(down(wide(free.value()) * o.state_memory_ratio / (1 + o.state_memory_ratio)));
    l.add(
        "recurrent state pool", l.state,
        fmt::format("{:g} parts to 1 part of KV (mamba_full_memory_ratio)", o.state_memory_ratio));
  }
  close_ledger(pool, l.total);
  const double slot = g.full == 0 ? g.windows : g.full + o.window_slot_ratio * g.windows;
  if (pool.footprint.bytes_per_sequence_extra > 0)
    size_by_sequence(pool);
  else if (slot > 0)
    pool.tokens = down(wide(l.kv.value()) / slot) / pool.block_tokens * pool.block_tokens;
  if (o.max_total_tokens > 0 && pool.tokens > o.max_total_tokens) {
    pool.tokens = o.max_total_tokens / pool.block_tokens * pool.block_tokens;
    pool.warnings.push_back(
        fmt::format("max_total_tokens keeps the pool at {}", format_integer(pool.tokens)));
  }
  pool.num_gpu_blocks = pool.tokens / pool.block_tokens;
  pool.max_concurrency = wide(pool.tokens) / wide(o.max_model_len);
  if (g.states > 0 && o.kv_cache_memory.empty()) {
    pool.state_slots = std::max<std::int64_t>(0, down(wide(l.state.value()) / g.states) - 1);
    pool.max_concurrency = std::min(pool.max_concurrency, wide(pool.state_slots));
  }
  // The default depends on the pool, and the estimates of activations and graphs not on it.
  if (!pool.is_batch_given)
    pool.options.max_num_seqs = sglang_max_running(pool.tokens, o.max_model_len, pool.state_slots);
  if (l.activation + l.cuda_graphs > l.reserve && o.kv_cache_memory.empty())
    pool.warnings.push_back(
        fmt::format("activations and graphs (about {}) need more than the reserve of {}: lower "
                    "mem_fraction_static",
                    format_bytes(l.activation + l.cuda_graphs), format_bytes(l.reserve)));
  l.memo("activation peak", l.activation, stage.activation.note + "; inside the reserve");
  l.memo("CUDA graphs", l.cuda_graphs, stage.graphs.note + "; inside the reserve");
  const double kv = wide(l.kv.value()) / gib;
  const bool latent = model.layer_groups.front().attention == spec::AttentionKind::mla;
  pool.engine_log = {
      latent
          ? fmt::format("KV Cache is allocated. #tokens: {}, KV size: {:.2f} GB", pool.tokens, kv)
          : fmt::format("KV Cache is allocated. #tokens: {}, K size: {:.2f} GB, V size: {:.2f} "
                        "GB",
                        pool.tokens, kv / 2, kv / 2),
      fmt::format(
          "max_total_num_tokens={}, max_prefill_tokens={}, max_running_requests={}, context_len={}",
          pool.tokens, o.max_num_batched_tokens, o.max_num_seqs, o.max_model_len)};
  if (pool.state_slots > 0)
    pool.engine_log.insert(
        pool.engine_log.begin(),
        fmt::format("Mamba Cache is allocated. max_mamba_cache_size: {}", pool.state_slots));
}

}  // namespace kvsim::memory
