#include "calibrate/profile/calibration.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "calibrate/validation.h"
#include "cost/library/cost_document.h"
#include "random/stream.h"

using namespace kvsim;
using namespace kvsim::calibrate;

namespace {

// Rows of all_reduce whose times come from a form with known parameters.
OperatorRows synthetic(const cost::Form& form, const std::vector<double>& parameters) {
  OperatorRows rows;
  rows.key.kernel = form.kernel, rows.key.gpu = "h100-sxm", rows.key.dtype = "bf16";
  rows.device = cost::device_of(spec::Catalog().gpu("h100-sxm"));
  for (const double n : {2.0, 4.0, 8.0})
    for (double bytes = 1024; bytes < 3e8; bytes *= 1.4) {
      cost::Collective c;
      c.num_gpus = n, c.bytes = bytes;
      rows.samples.push_back(
          {c, form.microseconds(c, rows.device, parameters, cost::Buffers::replayed)});
      rows.places.push_back(fmt::format("synthetic:{}", rows.samples.size()));
      rows.keys.push_back(random::mix(7, rows.samples.size()));
    }
  return rows;
}

const cost::Form& collective_form() {
  for (const cost::Form& f : cost::forms())
    if (f.kernel == "comm" && f.name != cost::baseline_form) return f;
  return *cost::find_form("comm", cost::baseline_form);
}

std::string csv(double held_factor) {
  std::string out = "gpu,framework,version,op,backend,dtype,m,k,latency_us\n";
  std::uint64_t i = 0;
  for (const int m : {1, 4, 16, 64, 256, 1024, 4096})
    for (const int k : {256, 512, 1024, 2048, 3072, 4096, 8192}) {
      // The split does not look at latencies: ask it what it will hold.
      MeasuredRow found;
      const auto text = [&](double us) {
        return fmt::format("h100_sxm,x,1,scale_matrix,b,fp8,{},{},{}\n", m, k, us);
      };
      const double us = 2 + 3.0 * m * k / 3e6 + 0.01 * static_cast<double>(i++ % 7);
      read_measurements(
          {{"row", "gpu,framework,version,op,backend,dtype,m,k,latency_us\n" + text(us)}},
          [&](MeasuredRow&& row) { found = std::move(row); });
      out += text(us * (is_held_out(found.key, 0.33, 1) ? held_factor : 1));
    }
  return out;
}

}  // namespace

TEST_CASE("A fit to times of known parameters recovers them within one per cent") {
  const cost::Form& form = collective_form();
  std::vector<double> truth;
  for (const cost::Parameter& p : form.parameters)
    truth.push_back(std::clamp(p.start * 1.1, p.low, p.high));
  const OperatorRows rows = synthetic(form, truth);
  const OperatorCalibration c = calibrate_operator(rows, 0.33, 1);
  CHECK(c.fit.errors.mape < 0.01);
  CHECK(c.fit.holdout.mape < 0.01);
  CHECK(c.fit.holdout.n > 20);
  CHECK(c.outliers == 0);
  // The second way to know: the written file, evaluated at each row.
  cost::CostFile file{"a", "h100-sxm", "x", "1", {}, {c.fit}};
  const auto text = cost::cost_json(file);
  const cost::OperatorModel model(
      cost::read_cost(config::Document::parse(text, "fit.json")).operators[0], rows.device);
  for (const Sample& s : rows.samples)
    CHECK(std::abs(model.microseconds(s.shape, cost::Buffers::replayed) / s.microseconds - 1) <
          0.05);
}

TEST_CASE("Outliers are named with their factor and hardly move the fit") {
  const cost::Form& form = *cost::find_form("comm", cost::baseline_form);
  OperatorRows rows = synthetic(form, {8, 100});
  const OperatorCalibration clean = calibrate_operator(rows, 0.33, 1);
  rows.samples[5].microseconds *= 10, rows.samples[40].microseconds /= 4;
  const OperatorCalibration c = calibrate_operator(rows, 0.33, 1);
  CHECK(c.outliers == 2);
  REQUIRE(c.worst.size() == 2);
  CHECK(c.worst[0].place == "synthetic:6");
  CHECK(c.worst[0].factor() == doctest::Approx(10).epsilon(0.1));
  CHECK(c.worst[1].place == "synthetic:41");
  const cost::OperatorModel a(clean.fit, rows.device), b(c.fit, rows.device);
  for (const Sample& s : rows.samples)
    CHECK(b.microseconds(s.shape, cost::Buffers::replayed) ==
          doctest::Approx(a.microseconds(s.shape, cost::Buffers::replayed)).epsilon(0.05));
}

TEST_CASE("Held out rows have no influence on the fits that score them") {
  ValidateOptions options;
  options.holdout = 0.33;
  const spec::Catalog catalog;
  const Validation once = validate({MeasurementFile{"a.csv", csv(1)}}, catalog, options),
                   moved = validate({MeasurementFile{"a.csv", csv(3)}}, catalog, options);
  REQUIRE(once.points.size() == moved.points.size());
  CHECK(once.points.size() >= 8);
  CHECK(once.points.size() < 30);
  CHECK(once.held_out == static_cast<std::int64_t>(once.points.size()));
  for (std::size_t i = 0; i < once.points.size(); ++i) {
    CHECK(once.points[i].place == moved.points[i].place);
    CHECK(once.points[i].predicted == moved.points[i].predicted);
    CHECK(moved.points[i].measured == doctest::Approx(3 * once.points[i].measured));
  }
}

TEST_CASE("Another seed holds out other rows and a share of about what was asked") {
  int held = 0, both = 0;
  for (std::uint64_t key = 0; key < 10000; ++key) {
    held += is_held_out(key, 0.33, 1);
    both += is_held_out(key, 0.33, 1) && is_held_out(key, 0.33, 2);
    CHECK_FALSE(is_held_out(key, 0, 1));
  }
  CHECK(held == doctest::Approx(3300).epsilon(0.05));
  CHECK(both == doctest::Approx(1089).epsilon(0.1));
}

TEST_CASE("Calibration writes one file per GPU and framework version with its sources") {
  const std::string head = "gpu,framework,version,op,backend,dtype,m,k,latency_us\n";
  std::string text = head;
  for (int m = 1; m <= 64; m *= 2)
    for (const char* who : {"h100_sxm,x,1.0rc1", "h100_sxm,x,2", "my box,y,1", "abacus2,y,"})
      text += fmt::format("{},scale_matrix,b,fp8,{},4096,{}\n", who, m, 2 + 0.1 * m);
  CalibrateOptions options;
  options.sources = {"a test"};
  const spec::Catalog catalog;
  const Calibration all = fit_measurements({{"dir/rows.csv", text}}, catalog, options);
  REQUIRE(all.files.size() == 2);
  CHECK(all.files[0].id == "h100-sxm.x-1.0rc1");
  CHECK(all.files[1].version == "2");
  CHECK(all.files[0].sources == std::vector<std::string>{"a test", "rows of rows.csv"});
  CHECK(all.rows == 28);
  CHECK(all.skipped.size() == 2);

  // Own words for the GPU count as the one that is named, other catalog GPUs are left out.
  options.gpu = "l40s";
  const Calibration own = fit_measurements({{"dir/rows.csv", text}}, catalog, options);
  REQUIRE(own.files.size() == 2);
  CHECK(own.files[0].id == "l40s.y");
  CHECK(own.files[1].gpu == "l40s");
  CHECK(own.skipped.at(0).n == 14);
}
