#include "cost/library/transfer.h"

#include <doctest/doctest.h>

#include "cost/operators/operator_model.h"
#include "spec/catalog.h"

using namespace kvsim;
using namespace kvsim::cost;

namespace {

OperatorFit roofline(const char* kernel, const char* dtype) {
  OperatorFit f;
  f.kernel = kernel, f.dtype = dtype, f.form = baseline_form;
  for (const Parameter& p : find_form(kernel, baseline_form)->parameters)
    f.parameter_names.emplace_back(p.name);
  f.parameters = {5, 2000, 600};
  f.log_sigma = 0.03;
  f.log_quantiles = {-0.05, -0.02, 0, 0.02, 0.05};
  f.errors.n = 100;
  ResidualTable t;
  t.axes = {{0, {0, 40}}};
  t.values = {0.1, 0.1};
  f.tables = {t};
  return f;
}

Device device(const char* id) { return device_of(spec::Catalog().gpu(id)); }

}  // namespace

TEST_CASE("A GPU with more bandwidth is faster by that much where bytes bind") {
  const Device h100 = device("h100-sxm"), h200 = device("h200-sxm");
  const OperatorFit fit = roofline("gemm", "bf16");
  const OperatorFit moved = transfer(fit, h100, h200);
  const Gemm streamed{1, 65536, 65536, *find_format("bf16")};
  const double a = OperatorModel(fit, h100).microseconds(streamed, Buffers::cold),
               b = OperatorModel(moved, h200).microseconds(streamed, Buffers::cold);
  // The table multiplies both by e^0.1; the floor of 5 us stays.
  const double table = std::exp(0.1);
  CHECK((a / table - 5) / (b / table - 5) == doctest::Approx(h200.bandwidth / h100.bandwidth));
}

TEST_CASE("Matrix rates follow the operands of the dtype and floors stay") {
  const Device h100 = device("h100-sxm"), b200 = device("b200-sxm");
  const OperatorFit moved = transfer(roofline("gemm", "fp8"), h100, b200);
  CHECK(moved.parameters[0] == 5);
  CHECK(moved.parameters[1] == doctest::Approx(2000 * b200.bandwidth / h100.bandwidth));
  CHECK(moved.parameters[2] == doctest::Approx(600 * b200.fp8 / h100.fp8));
}

TEST_CASE("Tables stay within an architecture and the spread grows outside it") {
  const Device h100 = device("h100-sxm");
  const OperatorFit fit = roofline("gemm", "bf16");
  const OperatorFit near = transfer(fit, h100, device("h200-sxm")),
                    far = transfer(fit, h100, device("b200-sxm"));
  CHECK(near.tables.size() == 1);
  CHECK(far.tables.empty());
  CHECK(fit.log_sigma < near.log_sigma);
  CHECK(near.log_sigma < far.log_sigma);
  CHECK(far.log_quantiles.back() == doctest::Approx(1.645 * far.log_sigma));
  CHECK(near.errors.n == 0);
}

TEST_CASE("A transfer to the same GPU changes no parameter") {
  const Device d = device("l40s");
  const OperatorFit fit = roofline("prefill_attn", "bf16");
  CHECK(transfer(fit, d, d).parameters == fit.parameters);
  CHECK(transfer_distance(d, d) == 0);
}

TEST_CASE("The nearest relative of an H200 is an H100 and of an L40S no data centre GPU") {
  const Device h200 = device("h200-sxm"), l40s = device("l40s");
  for (const char* other : {"a100-sxm-80g", "b200-sxm", "l40s", "rtx-pro-6000"})
    CHECK(transfer_distance(device("h100-sxm"), h200) < transfer_distance(device(other), h200));
  for (const char* other : {"a100-sxm-80g", "h100-sxm", "h200-sxm", "b200-sxm"})
    CHECK(transfer_distance(device("rtx-pro-6000"), l40s) < transfer_distance(device(other), l40s));
}

TEST_CASE("An fp8 cache takes half of an increase of bandwidth in attention") {
  const Device h100 = device("h100-sxm"), h200 = device("h200-sxm");
  OperatorFit fit = roofline("decode_attn", "bf16");
  fit.kv_dtype = "fp8";
  const double whole = h200.bandwidth / h100.bandwidth;
  CHECK(transfer(fit, h100, h200).parameters[1] == doctest::Approx(2000 * (1 + whole) / 2));
  CHECK(transfer(fit, h200, h100).parameters[1] == doctest::Approx(2000 / whole));
}
