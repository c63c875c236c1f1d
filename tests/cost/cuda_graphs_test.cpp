#include <doctest/doctest.h>

#include "cost/cost_model.h"

using namespace kvsim;
using namespace kvsim::cost;

TEST_CASE("vllm captures 51 sizes up to 512 and on datacenter Blackwell 83 up to 1024") {  // KV-14
  spec::GpuSpec hopper, blackwell;
  hopper.architecture = "hopper", hopper.memory = Bytes(80 * gib);
  blackwell.architecture = "blackwell", blackwell.memory = Bytes(180 * gib);
  const std::int64_t limit = cuda_graph_limit(8192, 1024, 0, hopper);
  CHECK(limit == 512);
  CHECK(cuda_graph_count(limit) == 51);
  CHECK(cuda_graph_limit(8192, 1024, 0, blackwell) == 1024);
  CHECK(cuda_graph_count(1024) == 83);
  for (const auto& [tokens, padded] : std::initializer_list<std::pair<std::int64_t, std::int64_t>>{
           {3, 4}, {9, 16}, {250, 256}, {257, 272}, {512, 512}, {513, 513}})
    CHECK(cuda_graph_size(tokens, limit) == padded);
}
