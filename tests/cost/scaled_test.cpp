#include <doctest/doctest.h>

#include <cmath>
#include <memory>

#include "cost/cost_model.h"
#include "cost/step_fill.h"
#include "spec/catalog.h"

using namespace kvsim;
using namespace kvsim::cost;

namespace {

const spec::ModelSpec& model() {
  static const spec::ModelSpec one = spec::Catalog().model("llama-3.1-8b");
  return one;
}
std::unique_ptr<CostModel> datasheet() {
  RooflineOptions o;
  o.kv_dtype = *kvformat::find_kv_dtype("bf16");
  return make_roofline(model(), spec::Catalog().gpu("h100-sxm"), o);
}

// Its spread grows with the step: 1 % of logarithm per token above, a tenth of that below.
class Widening final : public CostModel {
 public:
  double step_seconds(const StepShape& s) const override {
    return 1e-3 * static_cast<double>(s.tokens);
  }
  StepBill bill(const StepShape& s) const override {
    StepBill b;
    b.operators.push_back({"all", step_seconds(s), 0, 0, 1, Binds::compute, Source::measured});
    b.seconds = step_seconds(s);
    return b;
  }
  Spread spread(const StepShape& s) const override {
    const double width = 0.01 * static_cast<double>(s.tokens);
    return {width / 10, width};
  }
  Source source() const override { return Source::measured; }
  std::string describe() const override { return "widening"; }
};

}  // namespace

TEST_CASE("a scaled model takes a factor longer for each step and for each operator of it") {
  const auto base = datasheet();
  const auto twice = make_scaled(*base, 2);
  for (const StepShape& shape : {decode_shape(model(), 2000, 8), prefill_shape(model(), 700)}) {
    CHECK(twice->step_seconds(shape) == 2 * base->step_seconds(shape));
    const StepBill one = base->bill(shape), two = twice->bill(shape);
    CHECK(two.seconds == twice->step_seconds(shape));
    REQUIRE(one.operators.size() == two.operators.size());
    double sum = 0;
    for (std::size_t i = 0; i < one.operators.size(); ++i) {
      CHECK(two.operators[i].seconds == 2 * one.operators[i].seconds);
      CHECK(two.operators[i].bytes == one.operators[i].bytes);
      sum += two.operators[i].seconds;
    }
    CHECK(sum == doctest::Approx(two.seconds));
  }
  CHECK(twice->source() == Source::datasheet);
  CHECK(twice->describe().find("2 times") != std::string::npos);
}

TEST_CASE("an end takes each step by the factor of its own shape") {
  const auto base = std::make_unique<Widening>();
  const auto low = make_at_end(*base, End::low), high = make_at_end(*base, End::high);
  for (const std::int64_t tokens : {1, 10, 100}) {
    StepShape shape;
    shape.tokens = tokens;
    const double seconds = base->step_seconds(shape);
    CHECK(high->step_seconds(shape) ==
          doctest::Approx(seconds * std::exp(0.01 * static_cast<double>(tokens))));
    CHECK(low->step_seconds(shape) * high->step_seconds(shape) ==
          doctest::Approx(seconds * seconds * std::exp(0.009 * static_cast<double>(tokens))));
    CHECK(low->bill(shape).seconds == low->step_seconds(shape));
  }
}

TEST_CASE("a constant step has no spread and that of the datasheet lies around its prediction") {
  StepShape shape;
  shape.tokens = 7;
  const auto constant = make_constant(Duration(1000));
  CHECK(constant->spread(shape).none());
  CHECK(make_at_end(*constant, End::high)->step_seconds(shape) == constant->step_seconds(shape));
  CHECK(constant->bill(shape).operators.front().source == Source::constant);

  const Spread wide = datasheet()->spread(decode_shape(model(), 1000, 4));
  CHECK(!wide.none());
  CHECK(wide.factor(End::low) == doctest::Approx(0.9).epsilon(1e-4));
  CHECK(wide.factor(End::high) == doctest::Approx(2.25).epsilon(1e-4));
}
