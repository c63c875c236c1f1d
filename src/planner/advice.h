#pragma once
#include <span>

#include "memory/pool.h"
#include "planner/plan.h"

namespace kvsim::planner {

// Settings worth trying, each sized again by the same rules.
//
// Of a deployment that fits: what would let it hold more. Of one that does not: single settings
// that make it fit, cheapest first; then what comes closer alone. Where no single setting does, the
// smallest combinations that do: of KV and weight formats, batch, graphs, share of memory, images
// and offload; then with a shorter max_model_len; then with more GPUs, up to 64. A given
// pool (kv_cache_memory) that is too small for a request or too large for the GPU is answered
// first with a size that works.
std::vector<Advice> make_advice(const Request& request, const memory::Pool& pool);

// When nothing on this GPU makes it fit: the smallest GPU of `gpus` that does, alone or with up to
// 64 of them and every other setting. Empty: none does.
std::vector<Advice> other_gpus(const Request& request, std::span<const spec::GpuSpec> gpus);

// Every combination of settings that saves memory and keeps max_model_len, fewest first; the last
// one saves most.
std::vector<std::vector<Setting>> savings(const Request& request, const memory::Pool& pool);

}  // namespace kvsim::planner
