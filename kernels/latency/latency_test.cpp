#include <doctest/doctest.h>

#include <vector>

#include "kernels/latency/chase.h"
#include "kernels/latency/family.h"
#include "kernels/latency/latency.h"
#include "kernels/testing/run_cases.h"

using namespace kvsim::kernels;

TEST_CASE("latency kernels pass their edge cases and touch exactly their floor") {
  for (const auto& outcome : testing::expect_all_pass(latency_edge_cases())) {
    CAPTURE(outcome.id);
    CHECK(outcome.unique_bytes() == outcome.floor.bytes);
  }
}

TEST_CASE("a pointer chase visits every line once before it comes back") {
  for (std::uint32_t lines = 1; lines <= 1U << 16; lines *= 2) {
    std::vector<bool> seen(lines);
    std::uint32_t line = 0, visited = 0;
    for (; !seen[line]; line = chase_successor(line, lines), ++visited) seen[line] = true;
    CHECK(line == 0);
    CHECK(visited == lines);
  }
}

TEST_CASE("a walk through all lines ends where it began and the next walk goes on from there") {
  const auto device = make_cpu_device({});
  PointerChase chase(*device, 1 << 16);
  chase.walk(512, device->stream());
  CHECK(chase.ends().first == 511);
  CHECK(chase.ends().last == 511);
  chase.walk(5, device->stream());
  const auto after = chase.ends();
  chase.walk(507, device->stream());
  CHECK(chase.ends().first == after.last);
  CHECK(chase.ends().last == 511);
}

TEST_SUITE("quick") {
  TEST_CASE("latency kernels pass their quick cases under permuted schedules") {
    for (const std::uint64_t seed : testing::schedule_seeds())
      testing::expect_all_pass(latency_quick_cases(), {.schedule_seed = seed});
  }
}
