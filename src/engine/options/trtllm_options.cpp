#include "engine/options/trtllm_options.h"

namespace kvsim::engine {

void fields(config::FieldVisitor& v, TrtllmOptions& o) {
  v.choice({"capacity_scheduler_policy", "which requests may hold KV in a step"},
           o.capacity_scheduler_policy, capacity_scheduler_policy_names);
  v.choice({"context_chunking_policy", "how prompts that exceed the token budget are cut"},
           o.context_chunking_policy, context_chunking_policy_names);
}

}  // namespace kvsim::engine
