#include "calibrate/fit/tables.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/fit/fit.h"
#include "calibrate/fit/grown.h"
#include "calibrate/fit/held_out.h"
#include "random/stream.h"

using namespace kvsim;
using namespace kvsim::calibrate;

namespace {

// Logarithms of times over two features: a form that grows by `slope` an octave of the first, and
// rows that are a quarter faster than it where the first is 5 to 7.
constexpr double octaves = 12, slope = 0.05, dip = -0.3;
bool dips(double x) { return x >= 5 && x <= 7; }

std::vector<Residual> dipping_rows() {
  random::Stream noise(1, "rows", 0);
  std::vector<Residual> out;
  for (double x = 0; x <= octaves; x += 0.5)
    for (double y = 0; y <= 4; y += 1)
      for (int repeat = 0; repeat < 2; ++repeat)
        out.push_back({{x, y}, (dips(x) ? dip : 0.0) + 0.01 * noise.normal(), 1});
  return out;
}

std::vector<Growth> growths(double gain) {
  std::vector<Growth> out;
  for (double x = 0; x + 1 <= octaves; x += 0.5)
    for (double y = 0; y <= 4; y += 1) out.push_back({{x, y}, {x + 1, y}, gain});
  return out;
}

double log_table(const std::vector<cost::ResidualTable>& tables, double x, double y) {
  double log = 0;
  for (const cost::ResidualTable& t : tables) log += t.at({x, y});
  return log;
}

// By how much the logarithm of time falls at most as x grows by half an octave.
double worst_fall(const std::vector<cost::ResidualTable>& tables) {
  double worst = 0;
  for (double y = 0; y <= 4; y += 0.5)
    for (double x = 0; x + 0.5 <= octaves; x += 0.25)
      worst = std::max(worst, log_table(tables, x, y) - log_table(tables, x + 0.5, y) - slope / 2);
  return worst;
}

// The same of a model's times as the work of rows grows by half an octave within its range.
double worst_fall(const cost::OperatorModel& model, std::span<const Sample> rows) {
  double worst = 0;
  for (const Sample& row : rows)
    for (int field = 0; field < work_fields; ++field) {
      const std::optional<cost::Shape> to = grown(row.shape, field, std::sqrt(2));
      if (!to || model.octaves_outside(*to) > 0) continue;
      worst = std::max(worst, 1 - model.microseconds(*to, cost::Buffers::replayed) /
                                      model.microseconds(row.shape, cost::Buffers::replayed));
    }
  return worst;
}

}  // namespace

TEST_CASE("tables follow a dip of their rows only where nothing says that work grows there") {
  const std::vector<Residual> rows = dipping_rows();
  const auto loose = fit_tables(rows, 2), held = fit_tables(rows, 2, growths(slope));
  REQUIRE_FALSE(loose.empty());
  REQUIRE_FALSE(held.empty());
  CHECK(worst_fall(loose) > 0.06);
  CHECK(worst_fall(held) < 0.03);
  // Far from the dip both say what the rows say.
  for (const double y : {0.0, 2.0, 4.0}) {
    CHECK(std::abs(log_table(loose, 12, y)) < 0.05);
    CHECK(std::abs(log_table(held, 12, y)) < 0.05);
  }
}

TEST_CASE("tables whose times rise with work are the same with and without growths") {
  std::vector<Residual> rows = dipping_rows();
  for (Residual& r : rows) r.log_ratio = 0.04 * std::sin(r.features[0]) + 0.02 * r.features[1];
  const auto loose = fit_tables(rows, 2), held = fit_tables(rows, 2, growths(slope));
  REQUIRE_FALSE(loose.empty());
  for (double x = 0; x <= octaves; x += 1)
    for (const double y : {0.0, 2.0, 4.0})
      CHECK(log_table(held, x, y) == doctest::Approx(log_table(loose, x, y)).epsilon(0.01));
}

TEST_CASE("a fall that the form itself has is not undone by tables") {
  const std::vector<Residual> rows = dipping_rows();
  const auto loose = fit_tables(rows, 2), held = fit_tables(rows, 2, growths(-0.2));
  for (double x = 0; x <= octaves; x += 1)
    CHECK(log_table(held, x, 2) == doctest::Approx(log_table(loose, x, 2)).epsilon(0.01));
}

TEST_CASE("attention over more keys is not predicted to be faster because its rows were noisy") {
  const cost::Form& form = *cost::find_form("decode_attn", "flash_attention_3");
  std::vector<double> p;
  for (const cost::Parameter& q : form.parameters) p.push_back(q.start);
  cost::Device d;
  d.sms = 142, d.l2_mb = 96, d.bandwidth = 864;
  std::vector<Sample> rows;
  double measured_fall = 0, before = 0;
  for (const double batch : {1.0, 4.0, 16.0, 64.0, 256.0})
    for (double kv = 16; kv <= 32768; kv *= 2) {
      cost::DecodeAttention s;
      s.batch = batch, s.kv_len = kv, s.n_heads = 32, s.n_kv_heads = 8, s.head_dim = 128;
      const double us =
          form.microseconds(s, d, p, cost::Buffers::replayed) * (kv == 128 || kv == 256 ? 0.75 : 1);
      if (kv > 16) measured_fall = std::max(measured_fall, 1 - us / before);
      before = us;
      rows.push_back({s, us});
    }
  FitOptions options;
  options.form = form.name;
  const cost::OperatorModel model(fit_operator("decode_attn", rows, d, options), d);
  CHECK(measured_fall > 0.15);
  CHECK(worst_fall(model, rows) < 0.05);
}

TEST_CASE("published reductions are not predicted to take less for more bytes") {
  const std::string file = std::string(KVSIM_SOURCE_DIR) + "/../shared/data/kernels/comm.csv";
  if (!std::filesystem::exists(file)) {
    MESSAGE("skipped: ../shared/data/kernels is not there");
    return;
  }
  const cost::Device d = cost::device_of(spec::Catalog().gpu("l40s"));
  int fits = 0;
  for (const auto& [key, rows] : published(file)) {
    if (key.gpu != "l40s" || key.backend != "vllm_eager") continue;
    const cost::OperatorFit fit = fit_operator(key.kernel, rows.fitted, d);
    const cost::OperatorModel model(fit, d);
    CHECK(worst_fall(model, rows.fitted) < 0.05);
    CHECK(errors_of(model, rows.left).mape < 0.15);
    ++fits;
  }
  CHECK(fits > 0);
}
