#include "conform/operations.h"

namespace kvsim::conform {
namespace {

constexpr std::string_view block_operations[] = {"allocate", "append", "free"};
constexpr std::string_view block_fields[] = {"hit", "ok", "blocks", "free", "queue"};

constexpr std::string_view radix_operations[] = {"insert", "match", "lock",
                                                 "unlock", "evict", "reset"};
constexpr std::string_view radix_fields[] = {"prefix", "hit",       "evicted",   "removed",
                                             "total",  "evictable", "protected", "nodes"};
constexpr std::string_view hicache_operations[] = {
    "insert",     "match",     "lock",       "unlock",    "evict",
    "evict_host", "load_back", "ack_writes", "ack_loads", "tree"};
constexpr std::string_view hicache_fields[] = {
    "ok",          "prefix",    "hit",     "host_hit",       "evicted",      "loaded",
    "left_device", "left_host", "written", "evictable",      "protected",    "available",
    "host_used",   "nodes",     "tree",    "pending_writes", "pending_loads"};
constexpr std::string_view swaradix_fields[] = {
    "prefix",         "hit",       "evicted",       "swa_evicted",   "full_evictable",
    "full_protected", "full_used", "swa_evictable", "swa_protected", "swa_used"};
constexpr std::string_view offload_operations[] = {
    "lookup", "touch", "prepare_store", "complete_store", "prepare_load", "complete_load", "reset"};
constexpr std::string_view offload_fields[] = {
    "result",  "ok",  "stored", "blocks", "evicted", "free", "evictable",
    "pending", "lru", "t1",     "t2",     "b1",      "b2",   "target_t1"};

constexpr OperationFamily table[] = {
    {"vllm_blocks", "vLLM's block manager: block tables and the whole free queue", "vllm-v1",
     "engine", "num_gpu_blocks_override", block_operations, block_fields, make_vllm_blocks},
    {"sglang_swaradix", "SGLang's prefix tree with a sliding window: counts of both pools",
     "sglang", "", "window", radix_operations, swaradix_fields, make_sglang_swaradix},
    {"sglang_radix", "SGLang's radix cache: hits, locks and the leaves that eviction takes",
     "sglang", "", "policy", radix_operations, radix_fields, make_sglang_radix},
    {"sglang_hicache", "SGLang's hierarchical cache: device and host pool, copies under way",
     "sglang", "engine", "hicache_write_policy", hicache_operations, hicache_fields,
     make_sglang_hicache},
    {"vllm_offload", "vLLM's CPU offload manager: its keys in order of eviction", "vllm-v1",
     "engine", "num_cpu_blocks", offload_operations, offload_fields, make_vllm_offload},
};

}  // namespace

std::span<const OperationFamily> operation_families() { return table; }

}  // namespace kvsim::conform
