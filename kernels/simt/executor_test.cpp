#include <doctest/doctest.h>

#include <bit>

#include "kernels/simt/planted/tensor.cuh"
#include "kernels/simt/planted/warp.cuh"
#include "kernels/testing/run_cases.h"

using namespace kvsim::kernels;

namespace {

struct Run {
  const char* name;
  void (*kernel)(LabArgs);
  Lab::Shape shape;
};

const Run runs[] = {
    {"half_warps", cpu::half_warps, {.threads = 128, .blocks = 3}},
    {"named_barriers", cpu::named_barriers, {.threads = 128, .shared_bytes = 512, .blocks = 2}},
    {"last_block", cpu::last_block, {.threads = 64, .shared_bytes = 16, .blocks = 7}},
    {"bulk_pipeline", cpu::bulk_pipeline, {.threads = 96, .shared_bytes = 1024, .blocks = 2}},
    {"copy_ring", cpu::copy_ring, {.threads = 128, .shared_bytes = 6144, .blocks = 2}},
    {"matrix_loads", cpu::matrix_loads, {.shared_bytes = 512, .blocks = 3}},
};

// Bits, because outputs may hold NaN.
std::vector<std::uint32_t> result(const Run& run, std::uint64_t seed, int workers) {
  Lab lab({.schedule_seed = seed, .workers = workers});
  const std::string report = lab.run(run.kernel, run.shape);
  CHECK(report == "");
  std::vector<std::uint32_t> bits;
  for (const float x : lab.out()) bits.push_back(std::bit_cast<std::uint32_t>(x));
  return bits;
}

}  // namespace

TEST_SUITE("quick") {
  TEST_CASE("results do not depend on the schedule or the number of workers") {
    for (const Run& run : runs) {
      CAPTURE(run.name);
      const auto want = result(run, 0, 1);
      for (const std::uint64_t seed : testing::schedule_seeds())
        for (const int workers : {1, 2}) {
          CAPTURE(seed);
          CAPTURE(workers);
          // CHECK would print every element.
          const bool equal = result(run, seed, workers) == want;
          CHECK(equal);
        }
    }
  }
}

TEST_CASE("one lane switch per arrival and no more") {
  kvsim::simt::Executor executor({});
  const auto body = [](const void*) {
    for (int i = 0; i < 100; ++i) cpu::__syncthreads();
  };
  executor.run({1, 1, 1}, 64, 0, body, nullptr);
  // The last to arrive at a barrier goes on without one.
  CHECK(executor.lane_switches() >= 64 + 100 * 63);
  CHECK(executor.lane_switches() <= 64 + 100 * 64);
}
