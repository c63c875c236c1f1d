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
  part.ledger.total =
      least_of_stage(o.total_memory, o.plan, stage.index).value_or(pool.ledger.total);
  Ledger& l = part.ledger;
  add_weights(l, stage);
  l.activation = stage.activation.bytes;
  l.non_torch = stage.non_torch.bytes;
  l.cuda_graphs = stage.graphs.bytes;
  l.add("activation peak", l.activation, stage.activation.note, true, stage.activation.uncertainty);
  l.add("non-torch", l.non_torch, stage.non_torch.note, true, stage.non_torch.uncertainty);
  const bool inside = o.rules.graphs_in_budget || !o.kv_cache_memory.empty();
  l.add("CUDA graphs", l.cuda_graphs,
        stage.graphs.note + (inside ? "" : "; outside the budget before 0.21"), inside,
        stage.graphs.uncertainty);
  const auto budget = static_cast<std::int64_t>(
      std::ceil(static_cast<double>(l.total.value()) * *o.memory_fraction));
  close_ledger(part, Bytes(budget));
  Sized result{l, make_layout(model, stage.footprint, o), 0};
  if (result.layout.block_bytes.value() > 0)
    result.blocks = l.kv.value() / result.layout.block_bytes.value();
  return result;
}

// The printed token count and concurrency.
void count_tokens(Pool& pool) {
  const Options& o = pool.options;
  const std::int64_t length = o.max_model_len, blocks = pool.num_gpu_blocks;
  const auto groups = static_cast<std::int64_t>(pool.layout.groups.size());
  if (groups == 0) return;
  if (!pool.layout.one_pool) {
    pool.max_concurrency =
        static_cast<double>(pool.ledger.kv.value()) / pool.layout.bytes_for(length);
    pool.tokens = static_cast<std::int64_t>(pool.max_concurrency * static_cast<double>(length));
    pool.warnings.push_back(
        "sequence compression: pages of several sizes are counted without padding; the one public "
        "start that prints its need asks for 1.29 times as much");
    return;
  }
  const std::int64_t need = pool.layout.blocks_for(length);
  pool.max_concurrency = static_cast<double>(blocks) / static_cast<double>(need);
  pool.tokens = blocks / groups * pool.block_tokens * o.decode_context_parallel_size;
  if (o.rules.tokens_by_concurrency) pool.tokens = product_over(blocks, length, need);
  if (!o.rules.concurrency_by_blocks)
    pool.max_concurrency = static_cast<double>(pool.tokens) / static_cast<double>(length);
  if (pool.layout.padding_layers > 0)
    pool.warnings.push_back(fmt::format(
        "Add {} padding layers, may waste at most {:.2f}% KV cache memory: kinds of layers that "
        "differ in number share one group size ({})",
        pool.layout.padding_layers, 100 * pool.layout.padding_waste, pool.layout.group_size));
  if (pool.layout.state_page_padding > 0 && pool.layout.block_tokens > o.block_tokens)
    pool.warnings.push_back(fmt::format(
        "Setting attention block size to {} tokens so that its page holds a recurrent state, "
        "padding the state's page by {:.2f}%",
        pool.layout.block_tokens, 100 * pool.layout.state_page_padding));
}

// Host memory for swapped blocks, before V1: 4 GiB per GPU unless told otherwise.
std::int64_t cpu_blocks(const Pool& pool) {
  const Bytes space = pool.options.swap_space.value_or(Bytes(4 * gib));
  const std::int64_t block = pool.layout.block_bytes.value();
  return block > 0 ? space.value() / block : 0;
}

// The lines of the version's own log.
void say(Pool& pool) {
  const Options& o = pool.options;
  const Bytes kv = pool.ledger.kv - pool.ledger.shortfall;
  const std::string concurrency =
      fmt::format("Maximum concurrency for {} tokens per request: {:.2f}x",
                  o.rules.v1 ? format_integer(o.max_model_len) : std::to_string(o.max_model_len),
                  pool.max_concurrency);
  if (o.rules.v1)
    pool.engine_log = {fmt::format("Available KV cache memory: {:.2f} GiB", to_gib(kv)),
                       fmt::format("GPU KV cache size: {} tokens", format_integer(pool.tokens)),
                       concurrency};
  else
    pool.engine_log = {
        fmt::format("# GPU blocks: {}, # CPU blocks: {}", pool.num_gpu_blocks, cpu_blocks(pool)),
        concurrency};
}

}  // namespace

void size_vllm(Pool& pool, const spec::ModelSpec& model, const std::vector<Stage>& stages) {
  bool first = true;
  for (const Stage& stage : stages) {
    Sized sized = size_stage(pool, model, stage);
    // A stage without KV layers limits only through its weights.
    const bool keeps = sized.layout.block_bytes.value() > 0;
    const bool poorer =
        first || sized.ledger.shortfall > pool.ledger.shortfall ||
        (keeps && (pool.layout.block_bytes.value() == 0 || sized.blocks < pool.num_gpu_blocks));
    if (!poorer) continue;
    first = false;
    pool.ledger = std::move(sized.ledger);
    pool.layout = std::move(sized.layout);
    pool.footprint = stage.footprint;
    pool.stage = stage.index;
    pool.num_gpu_blocks = sized.blocks;
  }
  const Options& o = pool.options;
  if (o.num_gpu_blocks_override) {
    // The engine takes the count as it is and fails when it allocates.
    const double asked = static_cast<double>(*o.num_gpu_blocks_override) *
                         static_cast<double>(pool.layout.block_bytes.value());
    const auto there = static_cast<double>(pool.ledger.kv.value());
    if (asked > there)
      pool.warnings.push_back(
          fmt::format("num_gpu_blocks_override asks for {:.1f} GiB of KV where {:.1f} are: the "
                      "engine runs out of memory when it allocates them",
                      asked / gib, there / gib));
    pool.override_fits = asked <= there;
    pool.num_gpu_blocks = *o.num_gpu_blocks_override;
  }
  if (pool.layout.block_tokens > 0) pool.block_tokens = pool.layout.block_tokens;
  count_tokens(pool);
  say(pool);
}

}  // namespace kvsim::memory
