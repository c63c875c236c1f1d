#include <fmt/format.h>

#include "cost/cost_model.h"

namespace kvsim::cost {
namespace {

class Constant final : public CostModel {
 public:
  explicit Constant(Duration step) : seconds_(to_seconds(step)) {}
  double step_seconds(const StepShape&) const override { return seconds_; }
  StepBill bill(const StepShape&) const override {
    StepBill b;
    b.operators.push_back({"step", seconds_, 0, 0, 1, Binds::launch, Source::constant});
    b.seconds = seconds_;
    b.binds = Binds::launch;
    return b;
  }
  Spread spread(const StepShape&) const override { return {}; }
  Source source() const override { return Source::constant; }
  std::string describe() const override {
    return fmt::format("every step takes {} s, as the scenario says", seconds_);
  }

 private:
  double seconds_;
};

}  // namespace

std::unique_ptr<CostModel> make_constant(Duration step) { return std::make_unique<Constant>(step); }

}  // namespace kvsim::cost
