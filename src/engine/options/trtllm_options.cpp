#include "engine/options/trtllm_options.h"

namespace kvsim::engine {

using config::between;

void fields(config::FieldVisitor& v, TokenRangeRetention& r) {
  v.field({"token_start", "first position of the prompt that it is for"}, r.token_start,
          between(0, 1e9));
  v.field({"token_end", "the position after the last; unset: to the end of the prompt"},
          r.token_end, between(1, 1e9));
  v.field({"priority", "0 to 100; blocks of the lowest priority are evicted first", {}, true},
          r.priority, between(kv::lowest_priority, kv::highest_priority));
}

void fields(config::FieldVisitor& v, TrtllmOptions& o) {
  v.choice({"capacity_scheduler_policy", "which requests may hold KV in a step"},
           o.capacity_scheduler_policy, capacity_scheduler_policy_names);
  v.choice({"context_chunking_policy", "how prompts that exceed the token budget are cut"},
           o.context_chunking_policy, context_chunking_policy_names);
  v.field({"enable_partial_reuse", "reuse the first tokens of a block that differs further on"},
          o.enable_partial_reuse);
  v.field({"copy_on_partial_reuse",
           "copy such a block; false: take it over, only where nobody uses it"},
          o.copy_on_partial_reuse);
  v.field({"host_cache_size", "host memory per GPU for blocks that leave the KV pool"},
          o.host_cache_size, between(0, 1e15));
  v.field({"secondary_offload_min_priority",
           "blocks of a lower retention priority are dropped instead of moved to the host"},
          o.secondary_offload_min_priority, between(kv::lowest_priority, kv::highest_priority));
  v.list({"token_range_retention", "retention priorities of prompt positions, of every request"},
         o.token_range_retention);
  v.field({"decode_retention_priority", "retention priority of blocks of generated tokens"},
          o.decode_retention_priority, between(kv::lowest_priority, kv::highest_priority));
}

}  // namespace kvsim::engine
