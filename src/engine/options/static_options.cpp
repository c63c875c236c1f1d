#include "engine/options/static_options.h"

namespace kvsim::engine {

void fields(config::FieldVisitor& v, StaticOptions& o) {
  v.choice({"batching", "who joins when: whole batches, or in every step"}, o.batching,
           batching_names);
  v.choice({"reservation",
            "contiguous slots per request: max_model_len, prompt plus the next power of two of the "
            "output, or exactly what it will need"},
           o.reservation, reservation_names);
  v.choice({"allocator", "placement of the slots: exact, or a buddy allocator of powers of two"},
           o.allocator, allocator_names);
}

}  // namespace kvsim::engine
