#include <doctest/doctest.h>

#include <cmath>

#include "spec/catalog.h"
#include "spec/facts.h"

// The GPUs of the catalog against the table of data sheet figures.
using namespace kvsim;
using namespace kvsim::spec;
using kvsim::test::Row;
using kvsim::test::value;

TEST_SUITE("spec/gpu_facts") {
  TEST_CASE("memory and rates of every catalog GPU equal the published table") {
    const std::vector<Row> rows = kvsim::test::facts("hardware/gpu_facts.csv");
    const Catalog catalog;
    std::size_t found = 0;
    for (const std::string& id : catalog.gpu_ids()) {
      const GpuSpec gpu = catalog.gpu(id);
      CAPTURE(id);
      // Bandwidth, nameplate and compute rate tell the products of the table apart.
      std::size_t matches = 0;
      for (const Row& row : rows) {
        const bool same =
            std::abs(gpu.memory_bandwidth.value() / 1e9 - value(row, "hbm_gbps")) < 1e-6 &&
            static_cast<double>(gpu.memory.value()) == value(row, "hbm_bytes") &&
            gpu.bf16_tflops == value(row, "bf16_tflops") && gpu.tdp_w == value(row, "tdp_w") &&
            std::abs(gpu.link_bandwidth.value() / 1e9 - value(row, "link_gbps_per_dir")) < 1e-6;
        if (!same) continue;
        ++matches;
        CHECK(gpu.fp8_tflops == value(row, "fp8_tflops"));
        CHECK(gpu.fp4_tflops == value(row, "fp4_tflops"));
        CHECK(gpu.int8_tops == value(row, "int8_tops"));
        CHECK(static_cast<double>(gpu.sm_count) == value(row, "sm_or_cu"));
        CHECK(gpu.l2_mb == value(row, "l2_mb"));
        CHECK(gpu.verified == row.at("verified"));
      }
      found += matches > 0 ? 1 : 0;
    }
    if (!rows.empty()) CHECK(found >= rows.size());
  }

  TEST_CASE("a matrix rate falls back to sixteen bits where the part has no faster path") {
    const Catalog catalog;
    const GpuSpec a100 = catalog.gpu("a100-sxm-80g"), h100 = catalog.gpu("h100-sxm");
    CHECK(a100.matrix_rate(DType::fp8) == a100.matrix_rate(DType::bfloat16));
    CHECK(h100.matrix_rate(DType::fp8).value() == doctest::Approx(1978.9e12));
    CHECK(h100.matrix_rate(DType::fp4) == h100.matrix_rate(DType::bfloat16));
    CHECK(h100.matrix_rate(DType::int4) == h100.matrix_rate(DType::float16));
    CHECK(h100.usable_memory() < h100.memory);
  }
}
