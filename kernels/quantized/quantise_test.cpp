#include <doctest/doctest.h>

#include "kernels/quantized/quantise_problem.h"
#include "kernels/testing/run_cases.h"

using namespace kvsim::kernels;

TEST_CASE("quantise kernels touch exactly their floor in bytes") {
  for (const KvFormat format :
       {KvFormat::fp8, KvFormat::int8, KvFormat::int4, KvFormat::kivi2, KvFormat::nvfp4}) {
    Problems cases;
    cases.push_back(
        quantise_problem({.format = format, .pages = 3, .kv_heads = 2, .page = kivi_group}));
    cases.push_back(quantise_problem(
        {.format = format, .pages = 2, .kv_heads = 3, .page = 64, .first = 32, .count = 32}));
    if (format != KvFormat::kivi2)
      cases.push_back(quantise_problem(
          {.format = format, .pages = 2, .kv_heads = 1, .page = 64, .first = 15, .count = 34}));
    for (const auto& outcome : testing::expect_all_pass(std::move(cases))) {
      CAPTURE(outcome.id);
      CHECK(outcome.unique_bytes() == outcome.floor.bytes);
    }
  }
}
