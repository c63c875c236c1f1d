#include "memory/options.h"

#include <algorithm>
#include <cmath>

namespace kvsim::memory {
namespace {

// Chunk size and largest captured batch by GPU memory (sglang server_args, 2026-07).
struct SglangSizes {
  std::int64_t chunk = 0, graph_batch = 0;
};
SglangSizes sglang_sizes(const spec::GpuSpec& gpu, int tp) {
  const double memory = to_gib(gpu.usable_memory());
  if (memory < 20) return {2048, tp < 4 ? 8 : 80};
  if (memory < 35) return {2048, tp < 4 ? 24 : 80};
  if (memory < 60) return {4096, tp < 4 ? 32 : 160};
  if (memory < 160) return {8192, tp < 4 ? 256 : 512};
  return {16384, 512};
}

}  // namespace

std::optional<Bytes> least_of_stage(const std::vector<Bytes>& list, const spec::ParallelPlan& plan,
                                    int stage) {
  if (list.empty()) return std::nullopt;
  if (list.size() == 1) return list.front();
  const auto tp = static_cast<std::size_t>(plan.tensor_parallel_size);
  const auto first =
      list.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(stage) * tp);
  return *std::min_element(first, first + static_cast<std::ptrdiff_t>(tp));
}

spec::ParallelPlan drafter_plan(const Options& o) {
  spec::ParallelPlan plan = o.plan;
  plan.pipeline_parallel_size = 1;
  plan.layer_partition.clear();
  return plan;
}

Batching default_batching(const Rules& rules, const spec::GpuSpec& gpu, UsageContext usage) {
  const double memory = to_gib(gpu.usable_memory());
  const bool script = usage == UsageContext::llm_class;
  const bool a100 = gpu.id.substr(0, 4) == "a100";
  switch (rules.engine) {
    case Engine::vllm_v1:
      if (!rules.v1) return {256, 2048};
      if (memory >= 160) return {1024, 16384};
      if (memory >= 70 && !a100) return {1024, script ? 16384 : 8192};
      return {256, script ? 8192 : 2048};
    case Engine::sglang:
      return {256, sglang_sizes(gpu, 1).chunk};
    case Engine::trtllm:
      return {2048, 8192};
    case Engine::static_batching:
      return {256, 2048};
    case Engine::llamacpp:
      return {1, 512};
  }
  return {};
}

std::int64_t sglang_graph_batch(const spec::GpuSpec& gpu, int tensor_parallel_size) {
  return sglang_sizes(gpu, tensor_parallel_size).graph_batch;
}

std::int64_t sglang_max_running(std::int64_t pool_tokens, std::int64_t context_length,
                                std::int64_t state_slots) {
  const double contexts = static_cast<double>(pool_tokens) /
                          static_cast<double>(std::max<std::int64_t>(1, context_length));
  std::int64_t most =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(contexts * 512), 2048, 4096);
  most = std::min(most, std::max<std::int64_t>(1, pool_tokens / 2));
  return state_slots > 0 ? std::min(most, state_slots) : most;
}

double sglang_default_fraction(const spec::GpuSpec& gpu, const Options& o) {
  // What activations, graphs and meta data need, in MiB, the way sglang estimates it.
  const double memory = to_gib(gpu.usable_memory()) * 1024;
  const SglangSizes sizes = sglang_sizes(gpu, o.plan.tensor_parallel_size);
  const std::int64_t chunk = o.max_num_batched_tokens > 0 ? o.max_num_batched_tokens : sizes.chunk;
  double reserved = 512 + 1.5 * static_cast<double>(std::max<std::int64_t>(chunk, 2048)) +
                    2.0 * static_cast<double>(sizes.graph_batch) +
                    o.plan.tensor_parallel_size * o.plan.pipeline_parallel_size / 8.0 * 1024;
  if (memory > 60 * 1024) reserved = std::max(reserved, 10.0 * 1024);
  return std::max(std::round((memory - reserved) / memory * 1000) / 1000, 0.0);
}

Options with_defaults(Options o, const spec::ModelSpec& model, const spec::GpuSpec& gpu) {
  const Batching batching = default_batching(o.rules, gpu, o.usage_context);
  if (o.max_model_len == 0) o.max_model_len = model.max_position_embeddings;
  const bool seqs_given = o.max_num_seqs > 0, tokens_given = o.max_num_batched_tokens > 0;
  if (!seqs_given) o.max_num_seqs = batching.max_num_seqs;
  if (!tokens_given) o.max_num_batched_tokens = batching.max_num_batched_tokens;
  // Without chunked prefill a step must hold the longest prompt, and is profiled so.
  const bool vllm = o.rules.engine == Engine::vllm_v1;
  const bool chunked = o.enable_chunked_prefill.value_or(
      !o.rules.whole_prompts ||
      (o.rules.chunked_above > 0 && o.max_model_len > o.rules.chunked_above));
  if (!tokens_given && vllm && !chunked)
    o.max_num_batched_tokens = std::max(o.max_model_len, o.max_num_batched_tokens);
  else if (!tokens_given && o.rules.whole_prompts && o.rules.chunked_tokens > 0)
    o.max_num_batched_tokens = o.rules.chunked_tokens;
  if (!tokens_given)
    o.max_num_batched_tokens = std::min(o.max_num_batched_tokens, o.max_num_seqs * o.max_model_len);
  if (!seqs_given) o.max_num_seqs = std::min(o.max_num_seqs, o.max_num_batched_tokens);
  if (o.block_tokens == 0) {
    switch (o.rules.engine) {
      case Engine::vllm_v1:
        o.block_tokens = 16;
        break;
      case Engine::sglang:
      case Engine::llamacpp:
      case Engine::static_batching:
        o.block_tokens = 1;
        break;
      case Engine::trtllm:
        o.block_tokens = 32;
        break;
    }
  }
  if (!o.memory_fraction)
    o.memory_fraction = o.rules.engine == Engine::sglang ? sglang_default_fraction(gpu, o)
                                                         : o.rules.default_utilization;
  if (o.drafter == Drafter::mtp && o.draft_layers == 0) o.draft_layers = model.num_mtp_layers;
  if ((o.drafter == Drafter::eagle || o.drafter == Drafter::eagle3) && o.draft_layers == 0)
    o.draft_layers = 1;
  if (!o.enable_prefix_caching) {
    bool recurrent = false;
    for (const auto& g : model.layer_groups) recurrent = recurrent || g.recurrent.has_value();
    o.enable_prefix_caching = o.rules.v1 && (!recurrent || o.rules.state_prefix_caching);
  }
  return o;
}

}  // namespace kvsim::memory
