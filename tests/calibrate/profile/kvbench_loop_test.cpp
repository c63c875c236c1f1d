#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "calibrate/profile/calibration.h"
#include "calibrate/validation.h"
#include "cost/operators/work.h"

using namespace kvsim;
using namespace kvsim::calibrate;

namespace {

constexpr double floor_us = 6.5, bytes_per_us = 4.2e6;

// A document of decode cases whose times are a floor and a rate, and of copies.
MeasurementFile document(int rotating_sets) {
  std::string results;
  const auto add = [&](const std::string& what, double bytes) {
    results += fmt::format(
        R"({}{{{}, "status": "ok", "time_us": {{"median": {:.6f}}}, "bytes": {}, "flops": 0, "rotating_sets": {}}})",
        results.empty() ? "" : ",\n", what, floor_us + bytes / bytes_per_us, bytes, rotating_sets);
  };
  for (const int batch : {1, 2, 8, 32})
    for (const int length : {1024, 4096, 16384, 65536}) {
      cost::DecodeAttention shape;
      shape.batch = batch, shape.kv_len = length, shape.n_heads = 32, shape.n_kv_heads = 8;
      shape.head_dim = 128;
      add(fmt::format(
              R"("kernel": "decode_paged", "variant": "mma", "dtype": {{"q": "bf16", "kv": "bf16"}}, "shape": {{"B": {}, "L": {}, "Hq": 32, "Hkv": 8, "D": 128, "page": 16}})",
              batch, length),
          cost::work_of(shape).bytes);
    }
  for (double bytes = 1 << 20; bytes < 4e9; bytes *= 4)
    add(R"("kernel": "copy", "variant": "unrolled4")", bytes);
  return {
      "bench.json",
      fmt::format(
          R"({{"schema": "kvsim.kvbench/1", "device": {{"name": "NVIDIA H200"}}, "results": [{}]}})",
          results)};
}

Calibration fitted() {
  CalibrateOptions options;
  options.gpu = "h200-sxm";
  return fit_measurements({document(4)}, spec::Catalog(), options);
}

double parameter(const cost::OperatorFit& fit, std::string_view name) {
  for (std::size_t i = 0; i < fit.parameters.size(); ++i)
    if (fit.parameter_names[i] == name) return fit.parameters[i];
  return NAN;
}

}  // namespace

TEST_CASE("calibration recovers the floor and the bandwidth that kvbench times were made of") {
  const Calibration c = fitted();
  REQUIRE(c.operators.size() == 2);
  for (const OperatorCalibration& o : c.operators) {
    CAPTURE(o.key.kernel);
    CHECK(o.key.framework == kvbench_framework);
    CHECK(o.fit.form == cost::baseline_form);
    CHECK(parameter(o.fit, "floor") == doctest::Approx(floor_us).epsilon(0.01));
    CHECK(parameter(o.fit, "bandwidth") == doctest::Approx(bytes_per_us / 1000).epsilon(0.01));
    CHECK(o.fit.holdout.mape < 0.01);
  }
}

TEST_CASE("validation of kvbench times by a fit to them closes within one percent") {
  const spec::Catalog catalog;
  ValidateOptions options;
  options.cost = fitted().files;
  const Validation v = validate({document(4)}, catalog, options);
  CHECK(v.overall.n == 22);
  CHECK(v.overall.mape < 0.01);
  for (const GroupErrors& g : v.groups) {
    CHECK(g.source == "fitted");
    CHECK(!g.reference);
  }
}

TEST_CASE("times over rotating buffers are predicted cold and replayed ones warm") {
  // 4 MB replayed come from the L2 cache, which the data sheet's prediction knows.
  const auto first = [](int sets) {
    ValidateOptions options;
    options.predictions = Predictions::datasheet;
    const Validation v = validate({document(sets)}, spec::Catalog(), options);
    REQUIRE(!v.points.empty());
    return std::pair(v.points.front().predicted, v.conditions.front().text);
  };
  const auto [cold, rotated] = first(4);
  const auto [warm, replayed] = first(1);
  CHECK(warm < cold);
  CHECK(rotated != replayed);
}
