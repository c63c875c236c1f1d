#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kvformat/kv_dtype.h"
#include "memory/rules.h"
#include "spec/gpu_spec.h"
#include "spec/model_spec.h"
#include "units/units.h"

namespace kvsim::memory {

// Terms of the ledger that are known, per GPU (from a start-up log, or measured): each replaces the
// estimate.
struct Stated {
  std::optional<Bytes> total, weights, activation, non_torch, cuda_graphs;
};

// What drafts tokens. ngram keeps nothing on the GPU; mtp uses the model's own multi-token
// prediction layers; eagle and eagle3 one layer of the model's shape with its own projections;
// draft_model a whole model beside it.
enum class Drafter { none, ngram, mtp, eagle, eagle3, draft_model };
inline constexpr std::array<std::string_view, 6> drafter_names{"none",  "ngram",  "mtp",
                                                               "eagle", "eagle3", "draft_model"};

// vLLM's mamba_cache_mode. `none` without prefix caching.
enum class StateCacheMode { none, align, all };
inline constexpr std::array<std::string_view, 3> state_cache_mode_names{"none", "align", "all"};

// How vLLM is started: its server, or the LLM class of a script, which takes larger steps by
// default.
enum class UsageContext { api_server, llm_class };

// What an engine is started with, as far as its memory depends on it. Empty optionals and lists
// take the engine's own default; zero lengths and counts too.
struct Options {
  Rules rules = resolve_rules(Engine::vllm_v1);
  spec::ParallelPlan plan;
  std::int64_t decode_context_parallel_size = 1;  // ranks of a tensor group that split a sequence
  kvformat::KvDtype kv_dtype;
  std::int64_t max_model_len = 0;  // 0: the model's
  std::int64_t max_num_seqs = 0;   // 0: default_batching()
  std::int64_t max_num_batched_tokens = 0;
  UsageContext usage_context = UsageContext::api_server;  // vLLM
  std::int64_t block_tokens = 0;  // 0: 16 (vLLM), 1 (SGLang, llama.cpp), 32 (TensorRT-LLM)
  // gpu_memory_utilization, mem_fraction_static, free_gpu_memory_fraction
  std::optional<double> memory_fraction;
  std::vector<Bytes> total_memory;  // of each worker's GPU, where they differ; a list as below
  // Lists per worker, ranks of a stage beside each other: empty, one for all, or one each. The pool
  // (skips the budget), and what is free when the engine starts.
  std::vector<Bytes> kv_cache_memory, free_memory;
  std::optional<std::int64_t> num_gpu_blocks_override;
  Stated stated;
  Bytes cpu_offload;                              // weights kept on the host, per GPU
  std::optional<Bytes> swap_space;                // vLLM before V1, per GPU; default 4 GiB
  std::optional<std::int64_t> images_per_prompt;  // limit-mm-per-prompt; default 1 where it sees
  bool enforce_eager = false;
  std::optional<bool> enable_prefix_caching, enable_chunked_prefill;
  bool hybrid_kv_cache_manager = true;  // false: every layer is charged its full length
  bool kv_connector = false;            // switches the hybrid manager off
  std::optional<spec::DType> state_dtype;
  std::optional<StateCacheMode> state_cache_mode;
  double state_memory_ratio = 0.9;    // sglang --mamba-full-memory-ratio: states per part of KV
  double window_slot_ratio = 0.8;     // sglang --swa-full-tokens-ratio: window slots per full slot
  std::int64_t max_total_tokens = 0;  // sglang --max-total-tokens: cap on the pool; 0 = none
  Drafter drafter = Drafter::none;
  std::int64_t speculative_tokens = 0;
  std::int64_t draft_layers = 0;  // layers that keep KV like the model's attention layers
  std::optional<spec::ModelSpec> draft_model;
  // Added to what lies outside the tensor allocator: how the pool moves when estimates are off.
  Bytes estimate_shift;
};

// The entry of a per-worker list that binds a stage: the smallest of its ranks. Empty for an empty
// list.
std::optional<Bytes> least_of_stage(const std::vector<Bytes>& list, const spec::ParallelPlan& plan,
                                    int stage);

// How a draft model is spread: over the tensor ranks of the last stage.
spec::ParallelPlan drafter_plan(const Options& options);

struct Batching {
  std::int64_t max_num_seqs = 0, max_num_batched_tokens = 0;
};
// The defaults by GPU memory (vLLM arg_utils get_batch_defaults, 2026-08, and before
// V1; SGLang's and TensorRT-LLM's own), before they are fitted to max_model_len.
Batching default_batching(const Rules& rules, const spec::GpuSpec& gpu,
                          UsageContext usage = UsageContext::api_server);

// `options` with every default filled in for this model and GPU. Tokens are kept at most
// max_num_seqs * max_model_len, sequences at most the tokens, as the engine does.
Options with_defaults(Options options, const spec::ModelSpec& model, const spec::GpuSpec& gpu);

// The largest batch that SGLang captures a decode graph for (cuda_graph_max_bs) by default.
std::int64_t sglang_graph_batch(const spec::GpuSpec& gpu, int tensor_parallel_size);

// SGLang's max_running_requests when none is given (kv_cache_configurator.py, 2026-07): 512 for
// every request of full context that the pool holds, at least 2048 and at most 4096, but no more
// than half the slots, nor than the sequences whose recurrent state there is room for (0 = no
// limit).
std::int64_t sglang_max_running(std::int64_t pool_tokens, std::int64_t context_length,
                                std::int64_t state_slots);

// SGLang's mem_fraction_static when none is given.
double sglang_default_fraction(const spec::GpuSpec& gpu, const Options& options);

}  // namespace kvsim::memory
