#pragma once
#include <cstdint>
#include <optional>

#include "kvformat/kv_dtype.h"
#include "memory/rules.h"
#include "spec/gpu_spec.h"
#include "spec/model_spec.h"
#include "units/units.h"

namespace kvsim::memory {

// What an engine is started with, as far as its memory depends on it. Empty optionals take the
// engine's own default; zero lengths and counts too.
struct Options {
  Rules rules = resolve_rules(Engine::vllm_v1);
  spec::ParallelPlan plan;
  kvformat::KvDtype kv_dtype;
  std::int64_t max_model_len = 0;  // 0: the model's
  std::int64_t max_num_seqs = 0;   // 0: default_batching()
  std::int64_t max_num_batched_tokens = 0;
  std::int64_t block_tokens = 0;  // 0: 16 (vLLM), 1 (SGLang, llama.cpp), 32 (TensorRT-LLM)
  std::optional<double>
      memory_fraction;  // gpu_memory_utilization, mem_fraction_static, free_gpu_memory_fraction
  std::optional<Bytes> kv_cache_memory;  // the pool per GPU, skips the budget
  bool enforce_eager = false;
  std::optional<bool> enable_prefix_caching;
  std::optional<spec::DType> state_dtype;
  std::int64_t speculative_tokens = 0;
  std::int64_t draft_layers = 0;  // MTP layers that keep KV like the model's attention layers
};

struct Batching {
  std::int64_t max_num_seqs = 0, max_num_batched_tokens = 0;
};
// The API server's defaults by GPU memory (vLLM arg_utils get_batch_defaults, 2026-08; SGLang's and
// TensorRT-LLM's own), before they are fitted to max_model_len.
Batching default_batching(Engine engine, const spec::GpuSpec& gpu);

// `options` with every default filled in for this model and GPU. Tokens are kept at most
// max_num_seqs * max_model_len, sequences at most the tokens, as the engine does.
Options with_defaults(Options options, const spec::ModelSpec& model, const spec::GpuSpec& gpu);

// SGLang's mem_fraction_static when none is given.
double sglang_default_fraction(const spec::GpuSpec& gpu, const Options& options);

}  // namespace kvsim::memory
