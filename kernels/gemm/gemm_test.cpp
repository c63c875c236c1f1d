#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "kernels/gemm/cublaslt.h"
#include "kernels/gemm/family.h"
#include "kernels/host/launch_record.h"
#include "kernels/testing/run_cases.h"

using namespace kvsim::kernels;

TEST_CASE("gemm kernels match their reference on the edge cases and touch exactly their floor") {
  double worst = 0;
  for (const auto& outcome : testing::expect_all_pass(gemm_edge_cases())) {
    CAPTURE(outcome.id);
    CHECK(outcome.unique_bytes() == outcome.floor.bytes);
    worst = std::max(worst, outcome.check.rel_l2);
  }
  MESSAGE("largest relative error " << worst);
}

TEST_CASE("a tile reads its rows of A and B once and no more") {
  Problems problems;
  problems.push_back(make_gemm(GemmFormat::bf16, {130, 300, 96}));
  const auto blocks = [](int size, int tile) { return (size + tile - 1) / tile; };
  for (const auto& outcome : testing::run_cases(std::move(problems))) {
    CAPTURE(outcome.id);
    const auto at = outcome.id.find("mma_");
    if (at == std::string::npos) continue;
    const std::string tile = outcome.id.substr(at + 4, outcome.id.find('/', at) - at - 4);
    const int rows = std::stoi(tile), columns = std::stoi(tile.substr(tile.find('x') + 1));
    const int read = 2 * 96 * (130 * blocks(300, columns) + 300 * blocks(130, rows));
    CHECK(outcome.touched.total_read == static_cast<std::uint64_t>(read));
    CHECK(outcome.touched.total_written == 2U * 130 * 300);
  }
}

TEST_CASE("cuBLASLt without a GPU is unsupported with a reason") {
  const auto gpu = make_gpu_device();
  if (gpu.device != nullptr) {
    MESSAGE("skipped: this machine has a GPU");
    return;
  }
  const auto device = make_cpu_device({});
  CublasLt library(*device, {.bytes_per_element = 2, .m = 16, .n = 16, .k = 16});
  CHECK_FALSE(library.reason().empty());
  CHECK_THROWS_AS(library.multiply(nullptr, nullptr, nullptr, 1, device->stream()), Unsupported);

  const auto problem = make_gemm(GemmFormat::bf16, {16, 16, 16});
  const auto variants = problem->variants();
  CHECK(variants.back().name == "cublaslt");
  CHECK_FALSE(variants.back().cpu);
  problem->prepare(*device, 1, 7);
  CHECK_THROWS_AS(problem->launch(variants.size() - 1, 0, device->stream()), Unsupported);
}

TEST_CASE("products too large for the naive kernel are not offered to it") {
  const auto names = [](const GemmShape& shape) {
    std::string out;
    for (const auto& v : make_gemm(GemmFormat::bf16, shape)->variants()) out += v.name + " ";
    return out;
  };
  CHECK(names({8192, 8192, 8192}) == "mma_128x128 cublaslt ");
  CHECK(names({1, 8192, 8192}) == "naive mma_128x128 mma_64x64 mma_16x32 cublaslt ");
}

TEST_SUITE("quick") {
  TEST_CASE("gemm kernels pass their quick cases under permuted schedules") {
    for (const std::uint64_t seed : testing::schedule_seeds())
      testing::expect_all_pass(gemm_quick_cases(), {.schedule_seed = seed});
  }
}
