#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diag/check.h"
#include "memory/sizing.h"
#include "units/format.h"

// SGLang, TensorRT-LLM, llama.cpp and static batching: where the KV budget comes from, and the
// count each prints (docs/explanation/memory-ledger.md).
namespace kvsim::memory {
namespace {

double wide(std::int64_t n) { return static_cast<double>(n); }
std::int64_t down(double x) { return static_cast<std::int64_t>(std::floor(x)); }
double kv(const Pool& pool) { return wide(pool.ledger.kv.value()); }

// The stage that leaves least room per byte of a sequence decides.
const Stage& poorest(const std::vector<Stage>& stages, Bytes total, std::int64_t length) {
  const auto room = [&](const Stage& s) {
    const double left = wide((total - s.weights - s.activation - s.non_torch).value());
    return left / std::max(1.0, sequence_bytes(s.footprint, length));
  };
  return *std::min_element(stages.begin(), stages.end(),
                           [&](const Stage& a, const Stage& b) { return room(a) < room(b); });
}

void take(Pool& pool, const spec::ModelSpec& model, const Stage& stage) {
  pool.stage = stage.index;
  pool.footprint = stage.footprint;
  add_weights(pool.ledger, model, pool.options, stage);
  pool.ledger.activation = stage.activation;
  pool.ledger.non_torch = stage.non_torch;
  pool.ledger.cuda_graphs = stage.graphs;
  pool.ledger.add("non-torch", stage.non_torch, "estimate: libraries and communication buffers");
}

// Tokens when a constant part comes with every sequence: as many requests of max_model_len as fit.
void by_sequence(Pool& pool) {
  const std::int64_t length = pool.options.max_model_len;
  pool.max_concurrency = kv(pool) / std::max(1.0, sequence_bytes(pool.footprint, length));
  pool.tokens = down(pool.max_concurrency * wide(length));
  pool.num_gpu_blocks = pool.tokens / pool.block_tokens;
}

bool growing_only(const kvformat::Footprint& fp) {
  return fp.bytes_per_sequence == 0 && fp.bytes_per_sequence_extra == 0 && fp.bytes_per_token > 0;
}

}  // namespace

// KV and state pools = free after weights - free before load * (1 - mem_fraction_static).
// Activations and graphs live in the 1 - fraction part.
void size_sglang(Pool& pool, const spec::ModelSpec& model, const spec::GpuSpec&,
                 const std::vector<Stage>& stages) {
  const Options& o = pool.options;
  take(pool, model, poorest(stages, pool.ledger.total, o.max_model_len));
  Ledger& l = pool.ledger;
  const double before = wide((l.total - l.non_torch).value());
  l.reserve = Bytes(down(before * (1 - *o.memory_fraction)));
  l.add("reserve", l.reserve,
        fmt::format("1 - mem_fraction_static ({:g}): activations and graphs live here",
                    *o.memory_fraction));
  double states = 0, windows = 0;
  for (const auto& g : pool.footprint.groups) {
    if (g.attention == spec::AttentionKind::recurrent)
      states += wide(g.layers) * g.bytes_per_sequence_layer;
    if (g.window > 0) windows += g.bytes_per_token();
  }
  if (states > 0 && o.kv_cache_memory.empty()) {
    // State pool and KV are split 0.9 to 1 by default.
    const Bytes free = std::max(l.total - l.weights - l.non_torch - l.reserve, Bytes(0));
    l.state = Bytes(down(wide(free.value()) * 0.9 / 1.9));
    l.add("recurrent state pool", l.state, "0.9 parts to 1 part of KV (sglang's default ratio)");
  }
  close_ledger(pool, l.total);
  // Windowed layers get 0.8 slots for each slot of the full layers.
  const double slot = pool.footprint.bytes_per_token + 0.8 * windows;
  const double all_windows = pool.footprint.bytes_per_token == 0 ? windows : slot;
  if (pool.footprint.bytes_per_sequence_extra > 0)
    by_sequence(pool);
  else if (all_windows > 0)
    pool.tokens = down(kv(pool) / all_windows) / pool.block_tokens * pool.block_tokens;
  pool.num_gpu_blocks = pool.tokens / pool.block_tokens;
  pool.max_concurrency = wide(pool.tokens) / wide(o.max_model_len);
  if (states > 0 && l.state.value() > 0)
    pool.max_concurrency = std::min(pool.max_concurrency,
                                    std::max(0.0, std::floor(wide(l.state.value()) / states) - 1));
  if (l.activation + l.cuda_graphs > l.reserve && o.kv_cache_memory.empty())
    pool.warnings.push_back(
        fmt::format("activations and graphs (about {}) need more than the reserve of {}: lower "
                    "mem_fraction_static",
                    format_bytes(l.activation + l.cuda_graphs), format_bytes(l.reserve)));
  const bool split = model.layer_groups.front().attention != spec::AttentionKind::mla;
  pool.engine_log = {
      split
          ? fmt::format("KV Cache is allocated. #tokens: {}, K size: {:.2f} GB, V size: {:.2f} GB",
                        pool.tokens, kv(pool) / 2 / gib, kv(pool) / 2 / gib)
          : fmt::format("KV Cache is allocated. #tokens: {}, KV size: {:.2f} GB", pool.tokens,
                        kv(pool) / gib),
      fmt::format(
          "max_total_num_tokens={}, max_prefill_tokens={}, max_running_requests={}, context_len={}",
          pool.tokens, o.max_num_batched_tokens, o.max_num_seqs, o.max_model_len)};
}

// KV = free after the engine is built * kv_cache_free_gpu_mem_fraction; blocks are rounded up.
void size_trtllm(Pool& pool, const spec::ModelSpec& model, const spec::GpuSpec&,
                 const std::vector<Stage>& stages) {
  const Options& o = pool.options;
  take(pool, model, poorest(stages, pool.ledger.total, o.max_model_len));
  Ledger& l = pool.ledger;
  l.add("activation buffers", l.activation,
        fmt::format("estimate: max_num_tokens {}", o.max_num_batched_tokens));
  if (o.kv_cache_memory.empty()) {
    const Bytes free = std::max(l.total - l.weights - l.non_torch - l.activation, Bytes(0));
    l.reserve = Bytes(free.value() - down(wide(free.value()) * *o.memory_fraction));
    l.add(
        "reserve", l.reserve,
        fmt::format("1 - free_gpu_memory_fraction ({:g}) of the free memory", *o.memory_fraction));
  }
  close_ledger(pool, l.total);
  if (growing_only(pool.footprint)) {
    const double block = pool.footprint.bytes_per_token * wide(pool.block_tokens);
    pool.num_gpu_blocks = static_cast<std::int64_t>(std::ceil(kv(pool) / block));
    pool.tokens = pool.num_gpu_blocks * pool.block_tokens;
    pool.max_concurrency =
        wide(pool.num_gpu_blocks) / wide(ceil_div(o.max_model_len, pool.block_tokens));
  } else {
    by_sequence(pool);
  }
  pool.engine_log = {
      fmt::format("[MemUsageChange] Allocated {:.2f} GiB for max tokens in paged KV cache ({}).",
                  kv(pool) / gib, pool.tokens),
      fmt::format("Number of blocks in KV cache primary pool: {}, tokens per block: {}",
                  pool.num_gpu_blocks, pool.block_tokens)};
}

// A slot of max_model_len tokens per request, reserved when it starts.
void size_static(Pool& pool, const spec::ModelSpec& model, const spec::GpuSpec&,
                 const std::vector<Stage>& stages) {
  const Options& o = pool.options;
  take(pool, model, poorest(stages, pool.ledger.total, o.max_model_len));
  Ledger& l = pool.ledger;
  l.add("activation buffers", l.activation,
        fmt::format("estimate: {} tokens in a batch", o.max_num_batched_tokens));
  close_ledger(pool, Bytes(down(wide(l.total.value()) * *o.memory_fraction)));
  if (growing_only(pool.footprint)) {
    pool.tokens =
        down(kv(pool) / pool.footprint.bytes_per_token) / pool.block_tokens * pool.block_tokens;
    pool.num_gpu_blocks = pool.tokens / pool.block_tokens;
    pool.max_concurrency = std::floor(wide(pool.tokens) / wide(o.max_model_len));
  } else {
    by_sequence(pool);
    pool.max_concurrency = std::floor(pool.max_concurrency);
  }
  pool.engine_log = {
      fmt::format("{} slots of {} tokens", down(pool.max_concurrency), o.max_model_len)};
}

// KV is sized by the context first; weights, KV and the compute buffer must then fit.
void size_llamacpp(Pool& pool, const spec::ModelSpec& model, const spec::GpuSpec&,
                   const std::vector<Stage>& stages) {
  const Options& o = pool.options;
  take(pool, model, poorest(stages, pool.ledger.total, o.max_model_len));
  Ledger& l = pool.ledger;
  l.add("compute buffer", l.activation,
        fmt::format("estimate: batches of {} tokens", o.max_num_batched_tokens));
  if (o.kv_cache_memory.empty()) {
    const std::int64_t cells = o.max_model_len * o.max_num_seqs;
    const auto wanted =
        Bytes(static_cast<std::int64_t>(sequence_bytes(pool.footprint, o.max_model_len)) *
              o.max_num_seqs);
    const Bytes free = l.total - l.weights - l.non_torch - l.activation;
    pool.tokens = cells;
    if (free > wanted) {
      l.reserve = free - wanted;
      l.add("unused", l.reserve, "the context decides the KV, not the memory");
    }
    close_ledger(pool, l.total);
    if (free < wanted) pool.tokens = 0;
  } else {
    close_ledger(pool, l.total);
  }
  if (pool.tokens == 0) {
    if (growing_only(pool.footprint))
      pool.tokens = down(kv(pool) / pool.footprint.bytes_per_token);
    else
      by_sequence(pool);
  }
  pool.num_gpu_blocks = pool.tokens / pool.block_tokens;
  pool.max_concurrency = wide(pool.tokens) / wide(o.max_model_len);
  pool.engine_log = {fmt::format("llama_kv_cache: size = {:.2f} MiB ({} cells, {} layers)",
                                 kv(pool) / mib, pool.tokens, model.num_layers)};
}

}  // namespace kvsim::memory
