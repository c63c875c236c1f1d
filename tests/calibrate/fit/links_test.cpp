#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "calibrate/fit/fit.h"
#include "calibrate/fit/tables.h"

using namespace kvsim;
using namespace kvsim::calibrate;

namespace {

std::vector<Sample> reductions(const std::vector<double>& parameters, std::string_view form) {
  const cost::Form* f = cost::find_form("comm", form);
  REQUIRE(f);
  std::vector<Sample> out;
  for (const double n : {2.0, 4.0, 8.0})
    for (double bytes = 512; bytes < 1e9; bytes *= 4) {
      cost::Collective s;
      s.num_gpus = n, s.bytes = bytes;
      out.push_back({s, f->microseconds(s, cost::Device{}, parameters, cost::Buffers::replayed)});
    }
  return out;
}

}  // namespace

TEST_CASE(
    "the time of a collective comes back from thirty rows of which one is ten times too slow") {
  const std::vector<Sample> truth =
      reductions({4, 1.3, 60, 0.6, 30, 1.4, 230, 1.05}, "two_regimes");
  std::vector<Sample> rows = truth;
  rows[7].microseconds *= 10;
  const cost::OperatorFit fit = fit_operator("comm", rows, cost::Device{});
  const cost::OperatorModel model(fit, cost::Device{});
  CHECK(errors_of(model, truth).mape < 0.01);
  double worst = 0;
  for (const Sample& s : truth)
    worst = std::max(
        worst, std::abs(model.microseconds(s.shape, cost::Buffers::replayed) / s.microseconds - 1));
  CHECK(worst < 0.1);
}

TEST_CASE("of forms that fit the same few rows alike the one with fewer parameters is taken") {
  const cost::OperatorFit fit =
      fit_operator("comm", reductions({9, 1.5, 120, 0.9}, "line"), cost::Device{});
  CHECK(fit.form == "line");
  CHECK(fit.parameters[0] == doctest::Approx(9).epsilon(0.01));
  CHECK(fit.parameters[2] == doctest::Approx(120).epsilon(0.01));
}

TEST_CASE(
    "rows of a collective are fitted together whatever their elements are and wherever they ran") {
  Measurement a;
  a.gpu = "h100_sxm", a.framework = "nccl", a.backend = "nccl_tests", a.regime = "all_reduce";
  a.dtype = "fp16", a.figures = {{"comm", 1e-5}};
  Measurement b = a;
  b.dtype = "int8";
  CHECK(key_of(a) == key_of(b));
  b.regime = "all_gather";
  CHECK(key_of(a) != key_of(b));
  a.backend = "torch_nccl_devpernode4", b = a, b.backend = "torch_nccl_devpernode8";
  CHECK(key_of(a) == key_of(b));
  a.figures[0].kernel = "gemm", b = a, b.dtype = "int8";
  CHECK(key_of(a) != key_of(b));
}

TEST_CASE("tables over counts of GPUs have their knots at the counts") {
  std::vector<Residual> rows;
  for (int i = 0; i < 120; ++i) {
    const double n = 1 + i % 3, bytes = 8 + i / 3 % 20;
    rows.push_back({{bytes, n}, n == 2 ? 0.4 : 0.1, 1});
  }
  const std::vector<cost::ResidualTable> tables = fit_tables(rows, 2);
  REQUIRE(tables.size() == 1);
  CHECK(tables[0].axes[1].knots == std::vector<double>{1, 2, 3});
  for (const Residual& r : rows)
    CHECK(tables[0].at(r.features) == doctest::Approx(r.log_ratio).epsilon(0.15));
}
