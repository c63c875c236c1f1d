#include "conform/operations.h"

namespace kvsim::conform {
namespace {

constexpr std::string_view block_operations[] = {"allocate", "append", "free"};
constexpr std::string_view block_fields[] = {"hit", "ok", "blocks", "free", "queue"};

constexpr OperationFamily table[] = {
    {"vllm_blocks", "vLLM's block manager: block tables and the whole free queue", "vllm-v1",
     "engine", "num_gpu_blocks_override", block_operations, block_fields, make_vllm_blocks},
};

}  // namespace

std::span<const OperationFamily> operation_families() { return table; }

}  // namespace kvsim::conform
