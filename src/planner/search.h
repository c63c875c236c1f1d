#pragma once
#include <string>
#include <vector>

#include "planner/plan.h"

namespace kvsim::planner {

// One way to use the GPUs, at the request's context.
struct Candidate {
  spec::ParallelPlan plan;
  std::string kv_dtype;
  bool fits = false;
  std::int64_t context = 0;  // tokens of each request: as asked, else 4,096 or max_model_len
  std::int64_t batch = 0;    // requests in flight over all replicas
  double decode_ms = 0, prefill_ms = 0;
  double tokens_per_s_per_gpu = 0;  // output, in steady decode
  double tokens_per_s_per_user = 0;
  bool pareto = false;  // nobody is better in both
  std::string why;      // what holds it back, or why it does not run
};

// Every tensor, pipeline and data parallel split of `gpus` GPUs with the asked KV format and fp8,
// best throughput per GPU first; those that do not fit last. Without an asked context requests
// have 4,096 tokens, or max_model_len where that is less.
std::vector<Candidate> search_deployments(const Request& request, int gpus);

}  // namespace kvsim::planner
