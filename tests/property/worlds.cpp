#include <fmt/format.h>

#include <stdexcept>

#include "property/witness.h"

namespace kvsim::testing {
namespace {

std::string scenario(const std::string& workload, const std::string& engine = {}) {
  return fmt::format(R"({{"schema": "kvsim.scenario/1", "name": "witness", "purpose": "to differ",
    "model": "llama-3.1-8b", "workload": {}, "cluster": {{"pools": [{{"name": "serve", "replicas": 1,
    "engine": {{"gpu": "a100-sxm-80g", "max_model_len": 4096{}}}}}]}}}})",
                     workload, engine);
}

std::string generate(const std::string& kind, const std::string& extra) {
  return fmt::format(R"({{"generate": {{"kind": "{}", "requests": 40,
    "arrival": {{"process": "poisson", "rate": 5}}, "input": {{"value": 50}}, "output": {{"value": 20}}{}}}}})",
                     kind, extra);
}

}  // namespace

std::string world(const std::string& name) {
  const std::string trace = R"({"trace": {"file": "requests.jsonl"}})";
  if (name == "trace") return scenario(trace);
  if (name == "adapters") return scenario(R"({"trace": {"file": "adapters.jsonl"}})");
  if (name == "mooncake") return scenario(R"({"trace": {"file": "mooncake.jsonl"}})");
  if (name == "constant")
    return scenario(trace, R"(, "cost": {"kind": "constant", "step": "10ms"})");
  // 109 usable blocks of 16 tokens: less than what runs at once.
  if (name == "small pool")
    return scenario(trace, R"(, "num_gpu_blocks_override": 110, "allow_small_pool": true)");
  // 60 blocks of 32 tokens: what ends is evicted soon.
  if (name == "trtllm")
    return scenario(trace, R"(, "profile": "trtllm", "num_gpu_blocks_override": 60,
    "allow_small_pool": true)");
  if (name == "static")
    return scenario(trace,
                    R"(, "profile": "static", "num_gpu_blocks_override": 4200, "max_num_seqs": 8)");
  // Less than what runs at once, in slots of one token. Launches would hide what prefix hits save
  // of such short prompts.
  if (name == "radix")
    return scenario(trace, R"(, "profile": "sglang", "max_total_tokens": 1900, "max_num_seqs": 4,
                               "allow_small_pool": true, "cost": {"kind": "roofline"})");
  // Eight requests start together and outgrow the pool.
  if (name == "crowd")
    return scenario(R"({"trace": {"file": "crowd.jsonl"}})",
                    R"(, "profile": "sglang", "max_total_tokens": 800, "max_num_seqs": 8,
                         "allow_small_pool": true, "schedule_conservativeness": 0.02)");
  if (name == "experts") {
    std::string text = scenario(trace, R"(, "tensor_parallel_size": 2)");
    return text.replace(text.find("llama-3.1-8b"), 12, "mixtral-8x7b");
  }
  if (name == "independent") return scenario(generate("independent", ""));
  if (name == "system")
    return scenario(
        generate("independent", R"(, "system": {"count": 3, "tokens": {"value": 64}})"));
  if (name == "chat")
    return scenario(
        generate("chat", R"(, "chat": {"turns": {"value": 4}, "think": {"time": "1s"}})"));
  if (name == "agent")
    return scenario(
        generate("agent", R"(, "agent": {"steps": {"value": 4}, "tool_tokens": {"value": 30},
      "tool_time": {"time": "1s"}, "branch_probability": 0.5, "branches": {"value": 2}, "branch_steps": {"value": 2}})"));
  throw std::runtime_error("no world is called " + name);
}

}  // namespace kvsim::testing
