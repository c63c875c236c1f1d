#include <fmt/format.h>

#include <cmath>

#include "memory/sizing.h"
#include "units/format.h"

// vLLM V1: KV = ceil(total * utilization) - weights - activation peak - non-torch [- graph
// estimate].
namespace kvsim::memory {
namespace {

// a * b / c, rounded down, where the product may exceed 64 bits.
std::int64_t product_over(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::int64_t>(static_cast<__int128>(a) * b / c);
}

struct Sized {
  Ledger ledger;
  KvLayout layout;
  std::int64_t blocks = 0;
};

Sized size_stage(const Pool& pool, const spec::ModelSpec& model, const Stage& stage) {
  const Options& o = pool.options;
  Pool part;
  part.options = o;
  part.stage = stage.index;
  part.ledger.total = pool.ledger.total;
  Ledger& l = part.ledger;
  add_weights(l, model, o, stage);
  l.activation = stage.activation;
  l.non_torch = stage.non_torch;
  l.cuda_graphs = stage.graphs;
  l.add("activation peak", stage.activation,
        fmt::format("estimate: dummy run at {} tokens, sampler at {} sequences",
                    o.max_num_batched_tokens, o.max_num_seqs));
  l.add("non-torch", stage.non_torch, "estimate: libraries and communication buffers");
  const bool inside = o.rules.graphs_in_budget || !o.kv_cache_memory.empty();
  l.add("CUDA graphs", stage.graphs,
        inside ? "estimate by captured sizes and layers"
               : "estimate; captured outside the budget before 0.21",
        inside);
  const auto budget = static_cast<std::int64_t>(
      std::ceil(static_cast<double>(l.total.value()) * *o.memory_fraction));
  close_ledger(part, Bytes(budget));
  Sized result{l, make_layout(model, stage.footprint, o), 0};
  if (result.layout.block_bytes.value() > 0)
    result.blocks = l.kv.value() / result.layout.block_bytes.value();
  return result;
}

}  // namespace

void size_vllm(Pool& pool, const spec::ModelSpec& model, const spec::GpuSpec&,
               const std::vector<Stage>& stages) {
  bool first = true;
  for (const Stage& stage : stages) {
    Sized sized = size_stage(pool, model, stage);
    // A stage without KV layers limits only through its weights.
    const bool poorer =
        first || sized.ledger.shortfall > pool.ledger.shortfall ||
        (sized.layout.block_bytes.value() > 0 && sized.blocks < pool.num_gpu_blocks);
    if (!poorer) continue;
    first = false;
    pool.ledger = std::move(sized.ledger);
    pool.layout = std::move(sized.layout);
    pool.footprint = stage.footprint;
    pool.stage = stage.index;
    pool.num_gpu_blocks = sized.blocks;
  }
  const Options& o = pool.options;
  const std::int64_t length = o.max_model_len, blocks = pool.num_gpu_blocks;
  if (pool.layout.block_tokens > 0) pool.block_tokens = pool.layout.block_tokens;
  const auto groups = static_cast<std::int64_t>(pool.layout.groups.size());
  if (!pool.layout.paged) {
    pool.max_concurrency =
        static_cast<double>(pool.ledger.kv.value()) / sequence_bytes(pool.footprint, length);
    pool.tokens = static_cast<std::int64_t>(pool.max_concurrency * static_cast<double>(length));
    pool.warnings.push_back(
        "page pools of sequence-compressed models are not modelled: capacity is KV bytes over the "
        "bytes of one sequence");
  } else if (groups > 0) {
    const std::int64_t need = pool.layout.blocks_for(length);
    pool.max_concurrency = static_cast<double>(blocks) / static_cast<double>(need);
    pool.tokens = blocks / groups * pool.block_tokens;
    if (o.rules.tokens_by_concurrency) pool.tokens = product_over(blocks, length, need);
    if (!o.rules.concurrency_by_blocks)
      pool.max_concurrency = static_cast<double>(pool.tokens) / static_cast<double>(length);
    if (pool.layout.padding_layers > 0)
      pool.warnings.push_back(fmt::format(
          "Add {} padding layers: kinds of layers that differ in number share one group size ({})",
          pool.layout.padding_layers, pool.layout.group_size));
  }
  pool.engine_log = {fmt::format("Available KV cache memory: {:.2f} GiB",
                                 to_gib(pool.ledger.kv - pool.ledger.shortfall)),
                     fmt::format("GPU KV cache size: {} tokens", format_integer(pool.tokens)),
                     fmt::format("Maximum concurrency for {} tokens per request: {:.2f}x",
                                 format_integer(length), pool.max_concurrency)};
}

}  // namespace kvsim::memory
