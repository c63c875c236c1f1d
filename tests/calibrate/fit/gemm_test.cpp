#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "calibrate/fit/fit.h"
#include "calibrate/fit/held_out.h"
#include "random/stream.h"

using namespace kvsim;
using namespace kvsim::calibrate;

namespace {

cost::Device h100() {
  cost::Device d;
  d.sms = 132, d.l2_mb = 50, d.bandwidth = 3352, d.bf16 = 989, d.fp8 = 1979;
  return d;
}

// Rows of a form whose parameters are off their starts, with a spread of 2 %.
std::vector<Sample> products(const char* dtype, const char* form, double off, std::uint64_t seed) {
  const cost::Form* f = cost::find_form("gemm", form);
  REQUIRE(f);
  std::vector<double> p;
  for (const cost::Parameter& q : f->parameters)
    p.push_back(std::min(q.high, std::max(q.low, q.start * (p.size() % 2 ? off : 1 / off))));
  random::Stream stream(seed, "products", 0);
  std::vector<Sample> out;
  for (double m = 1; m <= 16384; m *= 2)
    for (const double n : {256.0, 1536.0, 5120.0, 12288.0})
      for (const double k : {768.0, 4096.0, 14336.0}) {
        const cost::Gemm s{m, n, k, *cost::find_format(dtype)};
        const double us = f->microseconds(s, h100(), p, cost::Buffers::replayed);
        out.push_back({s, us * std::exp(0.02 * stream.normal())});
      }
  return out;
}

}  // namespace

TEST_CASE("a library is recognised by the times of its products") {
  for (const auto& [dtype, form] :
       std::vector<std::pair<const char*, const char*>>{{"fp8_block", "deepgemm_hopper"},
                                                        {"fp8", "cutlass_hopper"},
                                                        {"bf16", "best_tile_split"}}) {
    const cost::OperatorFit fit = fit_operator("gemm", products(dtype, form, 1.3, 1), h100());
    CHECK(fit.form == form);
    CHECK(fit.errors.mape < 0.03);
    const cost::OperatorModel model(fit, h100());
    CHECK(errors_of(model, products(dtype, form, 1.3, 2)).mape < 0.03);
  }
}

TEST_CASE("a single wave of the widest tiles is as slow in a fit as in its rows") {
  const std::vector<Sample> rows = products("fp8_block", "deepgemm_hopper", 1.3, 1);
  const cost::OperatorFit fit = fit_operator("gemm", rows, h100());
  const cost::OperatorModel model(fit, h100());
  const auto us = [&](double m) {
    return model.microseconds(cost::Gemm{m, 6144, 8192, *cost::find_format("fp8_block")},
                              cost::Buffers::cold);
  };
  CHECK(us(512) > 1.2 * us(576));  // 4 x 32 tiles of 128 x 192, against two waves
  CHECK(us(512) > us(256));
}

TEST_CASE("products and row kernels are predicted well on published rows that were left out") {
  const std::string folder = std::string(KVSIM_SOURCE_DIR) + "/../shared/data/kernels/";
  struct Case {
    const char* file;
    double error;
    std::int64_t rows;
  };
  for (const Case& c : {Case{"gemm_rtx_pro_6000_server.csv", 0.07, 1700},
                        Case{"memops.csv", 0.05, 1000}, Case{"vidur_layer_ops.csv", 0.085, 2000}}) {
    if (!std::filesystem::exists(folder + c.file)) {
      MESSAGE("skipped: ../shared/data/kernels is not there");
      return;
    }
    std::int64_t rows = 0;
    CAPTURE(c.file);
    CHECK(held_out_error(folder + c.file, &rows) < c.error);
    CHECK(rows > c.rows);
  }
}
