#include "engine/registry.h"

#include <array>

#include "engine/profiles/sglang/rules.h"
#include "engine/profiles/sglang/sglang.h"
#include "engine/profiles/static_batching/rules.h"
#include "engine/profiles/static_batching/static_batching.h"
#include "engine/profiles/trtllm/rules.h"
#include "engine/profiles/trtllm/trtllm.h"
#include "engine/profiles/vllm_v1.h"
#include "engine/profiles/vllm_v1_rules.h"

namespace kvsim::engine {
namespace {

constexpr std::array entries{
    ProfileEntry{"vllm-v1",
                 "vLLM V1: continuous batching, chunked prefill, paged blocks, hash-chain prefix "
                 "cache, preemption by recompute",
                 "main of 2026-08-17", "vllm-v1", make_vllm_v1, vllm_v1_rules},
    ProfileEntry{
        "vllm-v1-2025",
        "vLLM V1 as it was in 2025: admission on the first chunk, freed blocks at the tail "
        "of one queue, one waiting queue",
        "0.9.2 to 0.16", "vllm-v1", make_vllm_v1_2025, vllm_v1_2025_rules, "0.9.2",
        FullInputGate::absent},
    ProfileEntry{"sglang",
                 "SGLang: prefill before decode, radix prefix cache, admission by an output "
                 "estimate, retraction, optional host pool",
                 "main of 2026-07-20", "sglang", make_sglang, sglang_rules},
    ProfileEntry{
        "trtllm",
        "TensorRT-LLM: capacity and micro-batch scheduler, paged blocks, reuse by a tree of "
        "blocks with retention priorities and host offload",
        "capacityScheduler.cpp 02a10fed, microBatchScheduler.cpp "
        "0a949d31, evictionPolicy.cpp 05a91919",
        "trtllm", make_trtllm, trtllm_rules},
    ProfileEntry{"static",
                 "before paging: contiguous slots reserved per request, batched by request "
                 "(FasterTransformer) or by iteration (Orca)",
                 "Orca (OSDI 2022), PagedAttention (SOSP 2023)", "static", make_static_batching,
                 static_batching_rules},
};

}  // namespace

std::span<const ProfileEntry> profiles() { return entries; }

const ProfileEntry* find_profile(std::string_view name) {
  for (const ProfileEntry& entry : entries)
    if (entry.name == name) return &entry;
  return nullptr;
}

}  // namespace kvsim::engine
