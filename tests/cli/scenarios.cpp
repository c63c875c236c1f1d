#include "cli/scenarios.h"

#include <fmt/format.h>

namespace kvsim::test {

std::string request_lines(int count, int prompt_tokens, int output_tokens, int gap_ms) {
  std::string out;
  for (int i = 0; i < count; ++i)
    out +=
        fmt::format(R"({{"id":"r{0}","arrival_s":{1},"prompt":[["r{0}",{2}]],"output_tokens":{3}}})"
                    "\n",
                    i, 0.001 * gap_ms * i, prompt_tokens, output_tokens);
  return out;
}

std::string small_scenario(const std::string& engine) {
  return R"({"schema": "kvsim.scenario/1", "name": "small", "model": "llama-3.1-8b", "seed": 1,
 "workload": {"trace": {"file": "requests.jsonl", "format": "kvsim"}},
 "cluster": {"pools": [{"name": "serve", "replicas": 1, "engine": {"profile": "vllm-v1", "gpu": "h100-sxm",
   "max_model_len": 4096, "cost": {"kind": "constant", "step": "1ms"})" +
         engine + "}}]}}\n";
}

}  // namespace kvsim::test
