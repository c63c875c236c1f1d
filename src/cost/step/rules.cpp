#include "cost/step/rules.h"

namespace kvsim::cost::step {

Rules rules_of(Framework framework, const spec::GpuSpec& gpu) {
  const bool blackwell = gpu.architecture.starts_with("blackwell");
  switch (framework) {
    case Framework::vllm:
      // vLLM's B200 recipes fuse the all-reduce with the norm through FlashInfer, which runs
      // TensorRT-LLM's kernels.
      return {{"vllm", "sglang", "trtllm"},
              blackwell ? std::vector<std::string_view>{"trtllm", "graph"}
                        : std::vector<std::string_view>{"graph"},
              {"vllm", "sglang"},
              {"vllm"},
              blackwell,
              false};
    case Framework::sglang:
      return {{"sglang", "vllm", "trtllm"},
              {"graph"},
              {"sglang", "vllm"},
              {"sglang"},
              blackwell,
              false};
    case Framework::trtllm:
      return {{"trtllm", "vllm", "sglang"},
              {"trtllm", "TRTLLM", "graph"},
              {"trtllm", "sglang", "vllm"},
              {"vllm"},
              true,
              true};
  }
  return {};
}

}  // namespace kvsim::cost::step
