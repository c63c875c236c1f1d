#include "memory/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diag/check.h"
#include "diag/diagnostic.h"
#include "memory/holding.h"
#include "memory/sizing.h"
#include "spec/parameters.h"
#include "units/format.h"

namespace kvsim::memory {
namespace {

constexpr double most_bytes = 9e18;

void check_parallel(const spec::ModelSpec& model, const Options& o) {
  const std::string problem = kvformat::parallel_problem(model, o.plan);
  if (!problem.empty())
    throw InputError({.code = "parallel-plan",
                      .message = problem,
                      .hint = problem.find("partition") != std::string::npos
                                  ? "give one number of layers per stage, the model's in sum"
                                  : "choose a size that divides the heads"});
  const std::int64_t dcp = o.decode_context_parallel_size, tp = o.plan.tensor_parallel_size;
  if (dcp == 1) return;
  // Ranks of a context-parallel group hold the same heads, so heads must be replicated that often.
  for (const spec::LayerGroup& g : model.layer_groups) {
    const bool latent = g.attention == spec::AttentionKind::mla || g.compression;
    const std::int64_t heads = latent ? 1 : std::max<std::int64_t>(g.num_kv_heads, 1);
    if (g.recurrent || (tp % dcp == 0 && heads * dcp <= tp)) continue;
    throw InputError(
        {.code = "parallel-plan",
         .message = fmt::format("decode context parallel size {} needs {} x {} KV heads of {} to "
                                "fit in and divide tensor parallel size {}",
                                dcp, dcp, heads, model.id, tp),
         .hint = fmt::format("at tensor parallel size {} it can be at most {}", tp,
                             std::max<std::int64_t>(tp / heads, 1))});
  }
}

void check_drafter(const spec::ModelSpec& model, const Options& o) {
  if (o.drafter == Drafter::mtp && model.num_mtp_layers == 0)
    throw InputError({.code = "drafter",
                      .message = fmt::format("{} has no multi-token prediction layers", model.id),
                      .hint = "use eagle3, draft_model or ngram"});
}

void warn(Pool& pool, const spec::ModelSpec& model) {
  const Options& o = pool.options;
  if (model.max_position_embeddings > 0 && o.max_model_len > model.max_position_embeddings)
    pool.warnings.push_back(fmt::format(
        "max_model_len {} is above the {} positions of {}: engines refuse it unless told otherwise",
        o.max_model_len, model.max_position_embeddings, model.id));
  if (model.total_params_b > 0) {
    const double counted = static_cast<double>(spec::count_parameters(model).total()) / 1e9;
    if (std::abs(counted / model.total_params_b - 1) > 0.05)
      pool.warnings.push_back(
          fmt::format("the dimensions of {} give {:.1f} billion parameters, {:.1f} are published; "
                      "weights are counted from the dimensions",
                      model.id, counted, model.total_params_b));
  }
}

// Longest request that the pool serves alone. vLLM's own check at the start counts the null block
// in.
std::int64_t longest(const Pool& pool) {
  const Holding holding(pool);
  const auto holds = [&](std::int64_t tokens) {
    switch (pool.options.rules.engine) {
      case Engine::vllm_v1:
        if (pool.layout.one_pool) return pool.layout.blocks_for(tokens) <= pool.num_gpu_blocks;
        return pool.layout.bytes_for(tokens) <= static_cast<double>(pool.ledger.kv.value());
      case Engine::static_batching:
        return tokens <= pool.tokens;
      case Engine::llamacpp:
        return sequence_bytes(pool.footprint, tokens) *
                   static_cast<double>(pool.options.max_num_seqs) <=
               static_cast<double>((pool.ledger.kv - pool.ledger.shortfall).value());
      case Engine::sglang:
      case Engine::trtllm:
        break;
    }
    return holding.requests(tokens) > 0;
  };
  std::int64_t low = 0, high = std::max<std::int64_t>(pool.options.max_model_len, 1);
  if (holds(high)) return high;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  // In whole blocks, as the engine estimates it.
  return low / pool.block_tokens * pool.block_tokens;
}

// request_memory() of vLLM's workers, which compares each GPU's free memory with the budget.
void compare_free_memory(Pool& pool) {
  const Options& o = pool.options;
  if (o.rules.engine != Engine::vllm_v1) return;
  const std::size_t workers = std::max(o.free_memory.size(), o.total_memory.size());
  double least = 1;
  for (std::size_t i = 0; !o.free_memory.empty() && i < workers; ++i) {
    const Bytes free = o.free_memory[o.free_memory.size() == 1 ? 0 : i];
    const Bytes total = o.total_memory.empty() ? pool.ledger.total
                                               : o.total_memory[o.total_memory.size() == 1 ? 0 : i];
    least = std::min(least, static_cast<double>(free.value()) /
                                static_cast<double>(std::max<std::int64_t>(total.value(), 1)));
  }
  if (least < *o.memory_fraction) pool.fraction_that_starts = std::floor(least * 1000) / 1000;
}

void judge(Pool& pool) {
  const Options& o = pool.options;
  const Ledger& l = pool.ledger;
  pool.feasible_len = longest(pool);
  pool.fits = false;
  if (l.shortfall.value() > 0 || l.budget > l.total) {
    const Bytes missing = l.shortfall.value() > 0 ? l.shortfall : l.budget - l.total;
    pool.limit = fmt::format("memory: {} more than the budget are needed before any KV",
                             format_bytes(missing));
    if (l.shortfall.value() == 0)
      pool.limit =
          fmt::format("memory: the KV asked for and everything else are {} more than the GPU has",
                      format_bytes(missing));
  } else if (!pool.override_fits) {
    pool.limit = "memory: num_gpu_blocks_override takes more than the KV memory";
  } else if (pool.fraction_that_starts) {
    pool.limit = fmt::format(
        "memory: a GPU has less free at the start than the {} that gpu_memory_utilization {:g} "
        "asks for; {:g} starts",
        format_bytes(Bytes(
            static_cast<std::int64_t>(static_cast<double>(l.total.value()) * *o.memory_fraction))),
        *o.memory_fraction, *pool.fraction_that_starts);
  } else if (pool.feasible_len < o.max_model_len) {
    pool.limit = fmt::format(
        "KV capacity: one request of {} tokens does not fit, the longest that does is {}",
        format_integer(o.max_model_len), format_integer(pool.feasible_len));
  } else {
    pool.fits = true;
    const double seqs = static_cast<double>(o.max_num_seqs);
    pool.limit =
        pool.max_concurrency < seqs
            ? fmt::format("KV capacity: {:.2f} requests of {} tokens, max_num_seqs is {}",
                          pool.max_concurrency, format_integer(o.max_model_len), o.max_num_seqs)
            : fmt::format("max_num_seqs {}: KV would hold {:.2f} requests of {} tokens",
                          o.max_num_seqs, pool.max_concurrency, format_integer(o.max_model_len));
  }
}

}  // namespace

Pool size_pool(const spec::ModelSpec& model, const spec::GpuSpec& gpu, const Options& options) {
  check_parallel(model, options);
  check_drafter(model, options);
  Pool pool;
  pool.options = with_defaults(options, model, gpu);
  pool.is_batch_given = options.max_num_seqs > 0;
  pool.ledger.total = pool.options.stated.total.value_or(gpu.usable_memory());
  pool.block_tokens = pool.options.block_tokens;
  std::vector<Stage> stages;
  for (int s = 0; s < options.plan.pipeline_parallel_size; ++s)
    stages.push_back(measure_stage(model, gpu, pool.options, s));
  switch (pool.options.rules.engine) {
    case Engine::vllm_v1:
      size_vllm(pool, model, stages);
      break;
    case Engine::sglang:
      size_sglang(pool, model, stages);
      break;
    case Engine::trtllm:
      size_trtllm(pool, stages);
      break;
    case Engine::static_batching:
      size_static(pool, stages);
      break;
    case Engine::llamacpp:
      size_llamacpp(pool, model, stages);
      break;
  }
  compare_free_memory(pool);
  judge(pool);
  warn(pool, model);
  return pool;
}

Bytes deployment_kv_bytes(const spec::ModelSpec& model, const Options& o, std::int64_t context,
                          std::int64_t batch) {
  double total = 0;
  for (int s = 0; s < o.plan.pipeline_parallel_size; ++s)
    total +=
        sequence_bytes(kvformat::footprint(model, o.kv_dtype, {o.plan, s, o.state_dtype}), context);
  total *= static_cast<double>(batch) * o.plan.tensor_parallel_size /
           static_cast<double>(o.decode_context_parallel_size);
  if (total > most_bytes)
    throw InputError(
        {.code = "too-large",
         .message = fmt::format("{} requests of {} tokens are more KV than can be counted in bytes",
                                format_integer(batch), format_integer(context)),
         .hint = "give a smaller context or batch"});
  return Bytes(static_cast<std::int64_t>(total));
}

}  // namespace kvsim::memory
