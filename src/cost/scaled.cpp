#include <fmt/format.h>

#include <utility>

#include "cost/cost_model.h"
#include "diag/check.h"

// Step times of another model, longer or shorter by a factor.
namespace kvsim::cost {
namespace {

// `Factor` answers the factor of a step: factor(model, shape).
template <class Factor>
class Scaled final : public CostModel {
 public:
  Scaled(const CostModel& model, Factor factor, std::string words)
      : model_(model), factor_(factor), words_(std::move(words)) {}

  double step_seconds(const StepShape& shape) const override {
    return factor_(model_, shape) * model_.step_seconds(shape);
  }
  StepBill bill(const StepShape& shape) const override {
    StepBill b = model_.bill(shape);
    const double factor = factor_(model_, shape);
    for (OperatorTime& line : b.operators) line.seconds *= factor;
    b.seconds *= factor;
    return b;
  }
  Spread spread(const StepShape& shape) const override { return model_.spread(shape); }
  Source source() const override { return model_.source(); }
  std::string describe() const override { return fmt::format("{}; {}", model_.describe(), words_); }

 private:
  const CostModel& model_;
  Factor factor_;
  std::string words_;
};

struct Fixed {
  double factor;
  double operator()(const CostModel&, const StepShape&) const { return factor; }
};
struct AtEnd {
  End end;
  double operator()(const CostModel& model, const StepShape& shape) const {
    return model.spread(shape).factor(end);
  }
};

}  // namespace

std::unique_ptr<CostModel> make_scaled(const CostModel& model, double factor) {
  KVSIM_CHECK(factor > 0, "step times scaled by {}", factor);
  return std::make_unique<Scaled<Fixed>>(model, Fixed{factor},
                                         fmt::format("all times {} times as long", factor));
}

std::unique_ptr<CostModel> make_at_end(const CostModel& model, End end) {
  return std::make_unique<Scaled<AtEnd>>(
      model, AtEnd{end},
      fmt::format("all times at the {} end of their spread", end == End::low ? "low" : "high"));
}

}  // namespace kvsim::cost
