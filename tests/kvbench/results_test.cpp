#include <doctest/doctest.h>

#include "kernels/bench/ceilings.h"
#include "kernels/bench/summary.h"

using namespace kvsim::kernels;
using namespace kvsim::kernels::bench;

namespace {

Result timed(std::string kernel, double bytes, double flops, double us) {
  Result r;
  r.id = kernel + "/v";
  r.info.kernel = std::move(kernel);
  r.variant.name = "v";
  r.floor = {bytes, flops, ""};
  r.time_us = Times{.median = us, .p10 = us, .p90 = us, .n = 1};
  return r;
}

}  // namespace

TEST_CASE("rates are bytes and operations over the median") {
  const Result r = timed("decode", 4e9, 1e12, 2000);
  const Rates rates = rates_of(r, {.read_gbs = 5000, .copy_gbs = 4000, .bf16_tflops = 800});
  CHECK(rates.gbs.value() == doctest::Approx(2000));
  CHECK(rates.tflops.value() == doctest::Approx(500));
  CHECK(rates.frac_copy_bw.value() == doctest::Approx(0.5));
  CHECK(rates.frac_read_bw.value() == doctest::Approx(0.4));
  // 1 ms of bytes and 1.25 ms of operations: the floor is the larger.
  CHECK(rates.floor_us.value() == doctest::Approx(1250));
  CHECK(rates.frac_floor.value() == doctest::Approx(0.625));
}

TEST_CASE("rates without a ceiling or a time are absent") {
  CHECK_FALSE(rates_of(timed("decode", 1, 1, 1), {}).frac_floor);
  CHECK_FALSE(rates_of(timed("decode", 1, 1, 1), {.copy_gbs = 1}).frac_read_bw);
  CHECK(rates_of(timed("decode", 1e3, 1, 1), {.read_gbs = 2}).frac_read_bw.value() == 0.5);
  Result untimed = timed("decode", 1, 1, 1);
  untimed.time_us.reset();
  CHECK_FALSE(rates_of(untimed, {.copy_gbs = 1}).gbs);
}

TEST_CASE("pages that cross the host link have its rate as their floor") {
  const Ceilings ceilings{.copy_gbs = 4000, .h2d_gbs = 50, .d2h_gbs = 40};
  // 1 GB of pages, counted on both sides.
  CHECK(rates_of(timed("page_gather", 2e9, 0, 50e3), ceilings).frac_floor.value() ==
        doctest::Approx(0.5));
  CHECK(rates_of(timed("page_scatter", 2e9, 0, 20e3), ceilings).frac_floor.value() ==
        doctest::Approx(1.0));
}

TEST_CASE("ceilings are the best of the cases that give them") {
  std::vector<Result> results{timed("copy", 2e9, 0, 1000), timed("copy", 2e9, 0, 500),
                              timed("gemm", 0, 1e12, 2000), timed("read", 1e9, 0, 500)};
  results[2].info.kv_dtype = "bf16";
  results.push_back(results[1]);
  results.back().time_us->median = 1;
  results.back().status = Status::failed;
  Ceilings c;
  take_ceilings(results, c);
  CHECK(c.copy_gbs.value() == doctest::Approx(4000));
  CHECK(c.read_gbs.value() == doctest::Approx(2000));
  CHECK(c.bf16_tflops.value() == doctest::Approx(500));
  CHECK_FALSE(c.write_gbs);
}

TEST_CASE("the summary ends with the next step") {
  Document d;
  d.backend = Backend::gpu;
  d.device.name = "NVIDIA H200";
  d.results = {timed("copy", 2e9, 0, 1000)};
  const Options options{.output = "k.json"};
  const auto ends_with = [](const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
  };
  CHECK(ends_with(
      summary(d, options),
      "\nall checks passed; next: kvsim calibrate k.json --gpu h200-sxm -o measured.json\n"));
  d.not_reached = 7;
  CHECK(summary(d, options).find("\nnothing failed, 7 not reached; next: ") != std::string::npos);
  d.not_reached = 0;
  d.results[0].status = Status::failed;
  CHECK(ends_with(summary(d, options),
                  "1 failed, 0 not reached; next: kvbench --filter ID --check-only, with the id of "
                  "a failed case\n"));
}
