#include "cost/library/cost_document.h"

#include <doctest/doctest.h>

#include <cmath>

#include "cost/operators/operator_model.h"

using namespace kvsim;
using namespace kvsim::cost;

namespace {

CostFile sample() {
  OperatorFit f;
  f.kernel = "memops", f.backend = "b", f.dtype = "fp8", f.regime = "scale_matrix";
  f.form = baseline_form;
  f.parameter_names = {"floor", "bandwidth", "rate"};
  f.parameters = {2.0 / 3, 3123.456789, 500};
  f.covariance = {1e-4, 1e-5, 2e-4, 0, 0, 1};
  f.tables = {{{{0, {10, 20, 30}}}, {0.1, -1.0 / 30, 1e-9}}};
  f.low = {7, 0}, f.high = {30, 0};
  f.errors = {250, 0.1, 0.05, 0.2, -0.01};
  f.log_sigma = 0.123456789;
  f.log_quantiles = {-0.2, -0.1, 0, 0.1, 0.2};
  return {"h100-sxm.x-1", "h100-sxm", "x", "1", {"here"}, {f, f}};
}

CostFile parse(std::string text) {
  return read_cost(config::Document::parse(std::move(text), "fit.json"));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// Code and pointer of the first problem.
std::pair<std::string, std::string> problem(const std::string& text) {
  try {
    parse(text);
  } catch (const InputError& error) {
    CHECK(error.diagnostics().front().file == "fit.json");
    return {error.diagnostics().front().code, error.diagnostics().front().pointer};
  }
  return {};
}

}  // namespace

TEST_CASE("A cost file reads back as it was written and keeps its parameters to the last digit") {
  const CostFile before = sample();
  const std::string text = cost_json(before);
  const CostFile after = parse(text);
  CHECK(cost_json(after) == text);
  REQUIRE(after.operators.size() == 2);
  const OperatorFit &a = before.operators[0], &b = after.operators[0];
  for (std::size_t i = 0; i < a.parameters.size(); ++i) CHECK(b.parameters[i] == a.parameters[i]);
  CHECK(b.tables[0].values[2] == 0);
  // The times that matter, not the digits.
  const Device device{132, 50, 3350, 989, 1979, 1979, 1979, 450, 50, true};
  const Shape shape = Elementwise{4096, 3 * 8192};
  CHECK(OperatorModel(b, device).microseconds(shape, Buffers::cold) ==
        doctest::Approx(OperatorModel(a, device).microseconds(shape, Buffers::cold)).epsilon(1e-4));
}

TEST_CASE("A fit that does not match its form is refused with the pointer of its operator") {
  using Found = std::pair<std::string, std::string>;
  const std::string good = cost_json(sample());
  CHECK(problem(replaced(good, "\"form\": \"roofline\"", "\"form\": \"rooflime\"")) ==
        Found{"cost-fit", "/operators/0"});
  CHECK(problem(replaced(good, "[\"floor\",\"bandwidth\",\"rate\"]", "[\"floor\",\"rate\"]")) ==
        Found{"cost-fit", "/operators/0"});
  CHECK(problem(replaced(good, "\"parameters\": [0.6666666666666666", "\"parameters\": [-1")) ==
        Found{"cost-fit", "/operators/0"});
  CHECK(problem(replaced(good, "\"parameters\": [0.6666666666666666", "\"parameters\": [1e9")) ==
        Found{"cost-fit", "/operators/0/parameters"});
  CHECK(problem(replaced(good, "\"values\":[0.1,", "\"values\":[1e300,")) ==
        Found{"cost-fit", "/operators/0/tables"});
  CHECK(problem(replaced(good, "\"covariance\": [0.0001,", "\"covariance\": [")) ==
        Found{"cost-fit", "/operators/0/covariance"});
  CHECK(problem(replaced(good, "\"low\": [7.0,0.0]", "\"low\": [7.0]")) ==
        Found{"cost-fit", "/operators/0/low"});
  CHECK(problem(replaced(good, "\"log_quantiles\": [-0.2,", "\"log_quantiles\": [0.3,")) ==
        Found{"cost-fit", "/operators/0/log_quantiles"});
  CHECK(problem(replaced(good, "\"feature\":0", "\"feature\":3")) ==
        Found{"cost-fit", "/operators/0/tables"});
  CHECK(problem(replaced(good, "[10.0,20.0,30.0]", "[10.0,30.0,20.0]")) ==
        Found{"cost-fit", "/operators/0"});
}

TEST_CASE("Missing and unknown fields of a cost file are named with their places") {
  const std::string good = cost_json(sample());
  CHECK(problem(replaced(good, "\"gpu\"", "\"gpy\"")).first != "");
  CHECK(problem(replaced(good, "kvsim.cost/1", "kvsim.cost/2")).first == "schema-version");
  CHECK(problem(replaced(good, "\"log_sigma\": 0.1235", "\"log_sigma\": \"wide\"")).second ==
        "/operators/0/log_sigma");
}
