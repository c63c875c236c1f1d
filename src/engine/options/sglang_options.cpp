#include "engine/options/sglang_options.h"

namespace kvsim::engine {

using config::above;
using config::above_up_to;
using config::between;

void fields(config::FieldVisitor& v, SglangOptions& o) {
  v.field({"max_total_tokens", "slots of the KV pool, instead of the sizing"}, o.max_total_tokens,
          between(1, 1e12));
  v.field({"chunked_prefill_size", "most prompt tokens of a prefill step; -1: off; unset: by GPU"},
          o.chunked_prefill_size, between(-1, 1e9));
  v.field({"max_prefill_tokens", "prompt tokens that admission may add to one step"},
          o.max_prefill_tokens, between(1, 1e9));
  v.field({"enable_mixed_chunk", "decodes join prefill steps"}, o.enable_mixed_chunk);
  v.choice({"schedule_policy", "order in which waiting requests are admitted"}, o.schedule_policy,
           schedule_policy_names);
  v.field({"schedule_conservativeness",
           "share of the longest outputs that admission reserves, relative to the default"},
          o.schedule_conservativeness, above(0));
  v.choice({"radix_eviction_policy", "which leaf of the radix tree goes first"},
           o.radix_eviction_policy, radix_eviction_policy_names);
  v.field({"disable_radix_cache", "nothing is cached between requests"}, o.disable_radix_cache);
  v.field({"enable_priority_scheduling", "admit by request priority, higher values first"},
          o.enable_priority_scheduling);
  v.field({"schedule_low_priority_values_first", "lower priority values first"},
          o.schedule_low_priority_values_first);
  v.field({"priority_scheduling_preemption_threshold",
           "a running request is preempted for one whose priority is higher by more than this"},
          o.priority_scheduling_preemption_threshold, between(0, 1e9));
  v.field({"disable_priority_preemption", "priorities order the queue but preempt nobody"},
          o.disable_priority_preemption);
  v.choice({"retraction_policy", "whom a full pool retracts first"}, o.retraction_policy,
           retraction_policy_names);
  v.field({"enable_hierarchical_cache", "a host pool behind the radix tree"},
          o.enable_hierarchical_cache);
  v.field({"hicache_ratio", "host slots per device slot"}, o.hicache_ratio, above_up_to(0, 1e4));
  v.field({"host_tokens", "slots of the host pool; unset: by hicache_ratio"}, o.host_tokens,
          between(1, 1e12));
  v.choice({"hicache_write_policy", "when nodes are copied to the host"}, o.hicache_write_policy,
           hicache_write_policy_names);
}

}  // namespace kvsim::engine
