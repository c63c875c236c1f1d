#include "cost/power.h"

#include <doctest/doctest.h>

#include "cost/step_fill.h"
#include "spec/catalog.h"

using namespace kvsim;
using namespace kvsim::cost;

namespace {

StepBill bill(double flops, double bytes, double seconds, const spec::GpuSpec& gpu) {
  StepBill b;
  b.flops = flops, b.bytes = bytes, b.seconds = seconds;
  b.ridge = gpu.matrix_rate(spec::DType::bfloat16).value() / gpu.memory_bandwidth.value();
  return b;
}

double decode_watts(const char* gpu_id, std::int64_t batch) {
  const spec::Catalog catalog;
  const auto model = catalog.model("llama-3.1-8b");
  const auto gpu = catalog.gpu(gpu_id);
  StepShape shape;
  const StepFill fill(model);
  for (std::int64_t i = 0; i < batch; ++i) fill.add_decode(shape, 1000);
  RooflineOptions options;
  options.kv_dtype = *kvformat::find_kv_dtype("bfloat16");
  const auto power = power_of(gpu);
  return power->watts(power->load(make_roofline(model, gpu, options)->bill(shape)));
}

}  // namespace

TEST_CASE("a board draws its idle floor without work and its limit under the heaviest load") {
  const auto gpu = spec::Catalog().gpu("h100-sxm");
  const auto power = power_of(gpu);
  REQUIRE(power);
  CHECK(power->limit_w == 700);
  CHECK(power->watts(power->load(bill(0, 0, 1, gpu))) == doctest::Approx(105));
  CHECK(power->watts(power->load(bill(989e12, 3.35e12, 1, gpu))) == doctest::Approx(700));
  // Copies at the peak of the memory use half of what lies between; a third of the matrix units'
  // peak 1.7 thirds.
  CHECK(power->watts(power->load(bill(0, 2 * 3.35e12, 2, gpu))) ==
        doctest::Approx(105 + 595 * 0.5).epsilon(1e-3));
  CHECK(power->watts(power->load(bill(989.4e12, 0, 3, gpu))) ==
        doctest::Approx(105 + 595 * 1.7 / 3).epsilon(1e-3));
}

TEST_CASE("draw grows with the work of a step and shrinks as it is stretched") {
  const auto gpu = spec::Catalog().gpu("a100-sxm-80g");
  const Power power = *power_of(gpu);
  double before = 0;
  for (double work = 1e9; work < 1e12; work *= 2) {
    const double load = power.load(bill(50 * work, work, 1, gpu));
    CHECK(load >= before);
    CHECK(load <= 1);
    CHECK(power.load(bill(50 * work, work, 2, gpu)) <= load);
    before = load;
  }
}

TEST_CASE("decoding draws what public measurements of an H100 say to a quarter") {
  CHECK(decode_watts("h100-sxm", 1) == doctest::Approx(300).epsilon(0.25));
  CHECK(decode_watts("h100-sxm", 128) == doctest::Approx(600).epsilon(0.25));
}

TEST_CASE("a GPU without a stated limit has no power") {
  auto gpu = spec::Catalog().gpu("h100-sxm");
  gpu.tdp_w = 0;
  CHECK_FALSE(power_of(gpu).has_value());
}
