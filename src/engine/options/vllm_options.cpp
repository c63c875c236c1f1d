#include "engine/options/vllm_options.h"

namespace kvsim::engine {

using config::between;

void fields(config::FieldVisitor& v, KvGroupOptions& o) {
  v.choice({"kind", "what the group's layers keep", {}, true}, o.kind, kv_group_kind_names);
  v.field({"window", "sliding_window: tokens that a token sees, itself included"}, o.window,
          between(0, 1e9));
  v.field({"attention_chunk_size", "chunked_local: tokens per chunk of attention"},
          o.attention_chunk_size, between(0, 1e9));
}

void fields(config::FieldVisitor& v, SpeculativeOptions& o) {
  v.choice({"method", "what drafts the tokens", {}, true}, o.method, speculative_method_names);
  v.field({"num_speculative_tokens", "tokens drafted per step (K)", {}, true},
          o.num_speculative_tokens, between(1, 1024));
  v.field({"parallel_drafting", "all K tokens are drafted in one pass"}, o.parallel_drafting);
  v.field({"model", "draft_model: the drafting model, a catalog id, path or object"}, o.model);
  v.field(
      {"accept_pattern",
       "drafts accepted by a request's verifications, in turn from the start again; unset: none"},
      o.accept_pattern, between(0, 1024));
}

void fields(config::FieldVisitor& v, VllmOptions& o) {
  v.choice({"usage_context",
            "the API server or the LLM class of a script: the default of max_num_batched_tokens"},
           o.usage_context, usage_context_names);
  v.field({"data_parallel_size",
           "engines of one replica behind vLLM's load balancer, each on GPUs of its own; experts "
           "are spread over all of them, which then step in lockstep"},
          o.data_parallel_size, between(1, 1024));
  v.field({"max_loras",
           "different LoRA adapters that one step may serve; others wait, requests behind them "
           "overtake; unset: any number"},
          o.max_loras, between(1, 1e6));
  v.list({"kv_groups", "KV cache groups, instead of the model's own"}, o.kv_groups);
  v.field({"prefix_cache_retention_interval",
           "window blocks and states that stay reusable: 0 at prompt ends and shared prefixes, n "
           "also every n tokens, null all"},
          o.prefix_cache_retention_interval, between(0, 1e9));
  v.choice({"mamba_cache_mode", "recurrent states kept for reuse; unset: by prefix caching"},
           o.mamba_cache_mode, mamba_cache_mode_names);
  v.field({"mamba_block_size", "tokens per block of recurrent state; unset: by the cache mode"},
          o.mamba_block_size, between(1, 1e9));
  v.field({"prefix_match_unit", "tokens per prefix hash; unset: block_size"}, o.prefix_match_unit,
          between(1, 1e9));
  v.object({"speculative", "speculative decoding"}, o.speculative);
}

}  // namespace kvsim::engine
