#include "engine/engine_config.h"

#include "engine/registry.h"

namespace kvsim::engine {

using config::above;
using config::above_up_to;
using config::at_least;
using config::between;

void fields(config::FieldVisitor& v, CostConfig& c) {
  v.choice({"kind",
            "where step times come from: operators fitted to measured kernels, the datasheet "
            "roofline, or one constant duration"},
           c.kind, cost_kind_names);
  v.field({"step", "duration of every step, for kind constant"}, c.step, above_up_to(0, 1e6));
  v.choice({"host_time",
            "kind fitted: the engine's host time as fitted to published runs of its framework, or "
            "none"},
           c.host_time, host_time_names);
  v.object({"host", "kind fitted: the engine's host time, in place of the known one"}, c.host);
}

namespace {

void vllm_fields(config::FieldVisitor& v, EngineConfig& c) {
  v.field({"long_prefill_token_threshold", "most tokens of one prompt in a step; 0: no limit"},
          c.long_prefill_token_threshold, between(0, 1e9));
  v.choice({"scheduling_policy", "order of admission and choice of the preempted"},
           c.scheduling_policy, scheduling_policy_names);
  v.field(
      {"scheduler_reserve_full_isl",
       "admit a request only if its whole input fits the free blocks; unset: as the version does"},
      c.scheduler_reserve_full_isl);
  v.field({"watermark", "share of the blocks kept free at admission while others run"}, c.watermark,
          between(0, 0.999));
  fields(v, c.vllm);
}

}  // namespace

void fields(config::FieldVisitor& v, EngineConfig& c) {
  v.field({"profile", "engine whose rules are followed"}, c.profile);
  // An unknown profile is an error of its own: then every field may be meant.
  const ProfileEntry* const profile = find_profile(c.profile);
  const bool any = profile == nullptr || v.describes();
  const auto is = [&](std::string_view engine) { return any || profile->engine == engine; };
  // Of "a,b", SGLang's word for the field and TensorRT-LLM's, the one of this profile.
  const auto alias = [&](std::string_view both) {
    if (any) return both;
    const auto comma = both.find(',');
    return is("sglang")   ? both.substr(0, comma)
           : is("trtllm") ? both.substr(comma + 1)
                          : std::string_view{};
  };
  const auto trtllm_alias = [&](std::string_view word) {
    return is("trtllm") ? word : std::string_view{};
  };
  v.field({"engine_version", "version or date of the engine; decides the memory rules"},
          c.engine_version);
  v.field({"gpu", "GPU: catalog id, path or object", {}, true}, c.gpu);
  v.field({"tensor_parallel_size", "GPUs that share each layer", "tp_size"}, c.tensor_parallel_size,
          between(1, 1024));
  v.field({"pipeline_parallel_size", "stages that the layers are split into"},
          c.pipeline_parallel_size, between(1, 1024));
  v.field({"enable_expert_parallel", "spread whole experts over the GPUs instead of slicing each"},
          c.enable_expert_parallel);
  v.field({"gpu_memory_utilization",
           "share of the GPU's memory that the engine may use; unset: the version's default",
           alias("mem_fraction_static,free_gpu_memory_fraction")},
          c.gpu_memory_utilization, above_up_to(0, 1));
  v.field({"kv_cache_memory_bytes", "KV pool per GPU, instead of the memory budget"},
          c.kv_cache_memory_bytes, above(0));
  v.field(
      {"num_gpu_blocks_override",
       "KV blocks instead of the sizing: for vllm-v1 physical ones with the null block, elsewhere "
       "usable blocks, pages or slots"},
      c.num_gpu_blocks_override, between(2, 1e9));
  v.field(
      {"block_size", "tokens per KV block; unset: by engine", alias("page_size,tokens_per_block")},
      c.block_size, between(1, 65536));
  v.field({"kv_cache_dtype", "element format of the KV cache; auto: the checkpoint's"},
          c.kv_cache_dtype);
  v.field({"quantization", "weight format, if not the checkpoint's own"}, c.quantization);
  v.field({"max_model_len",
           "most tokens a request may have, prompt and output; unset: the model's context",
           alias("context_length,max_seq_len")},
          c.max_model_len, between(1, 1e9));
  v.field({"allow_small_pool", "run although one request of max_model_len does not fit the pool"},
          c.allow_small_pool);
  v.field({"enforce_eager", "no CUDA graphs: frees their memory, pays launches"}, c.enforce_eager);
  v.field({"max_num_seqs", "requests that may run at once; unset: by GPU",
           alias("max_running_requests,max_batch_size")},
          c.max_num_seqs, between(1, 1e7));
  v.field({"max_num_batched_tokens", "token budget of a step; unset: by GPU",
           trtllm_alias("max_num_tokens")},
          c.max_num_batched_tokens, between(1, 1e9));
  v.field({"enable_prefix_caching", "keep and reuse the blocks of finished prompts",
           trtllm_alias("enable_block_reuse")},
          c.enable_prefix_caching);
  v.field({"enable_chunked_prefill", "split prompts over steps to fill the token budget"},
          c.enable_chunked_prefill);
  v.field({"async_scheduling",
           "schedule a step before the previous one has returned (SGLang's overlap); unset: false"},
          c.async_scheduling);
  const auto part = [&](std::string_view engine, std::string_view owner, auto visit) {
    v.part(profile == nullptr || profile->engine == engine, owner, visit);
  };
  part("vllm-v1", "the vLLM profiles", [&] { vllm_fields(v, c); });
  part("sglang", "the profile sglang", [&] { fields(v, c.sglang); });
  part("trtllm", "the profile trtllm", [&] { fields(v, c.trtllm); });
  part("static", "the profile static", [&] { fields(v, c.static_batching); });
  v.object({"cost", "step times"}, c.cost);
}

}  // namespace kvsim::engine
