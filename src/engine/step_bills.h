#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cost/cost_model.h"
#include "units/units.h"

namespace kvsim::engine {

// What one operator took over all steps of an engine.
struct OperatorUse {
  std::string name;
  double seconds = 0, calls = 0;
  std::array<double, cost::binds_names.size()> by_binds{};    // of these seconds
  std::array<double, cost::source_names.size()> by_source{};  // of these seconds
};

// Where the time of an engine's steps went. Seconds of each array add up to the busy time.
struct StepTimes {
  std::array<double, cost::binds_names.size()> by_binds{};
  std::array<double, cost::source_names.size()> by_source{};
  double outside_s = 0;        // by operators outside their calibrated range
  double octaves_outside = 0;  // the farthest of them
  double full_load_s = 0;      // at the power limit, that draw what the steps drew over idle
  // Ends of a step time over the step time, in the mean over busy time.
  double low_ratio = 1, high_ratio = 1;
  std::vector<OperatorUse> operators;  // in the order of bills
};

// Adds up the bills of steps sampled by their number. A bill stands for the steps since the one
// before, each as long as its own: rare long steps then have their share of the time. Totals are
// scaled to the time and the steps that there were.
class StepBills {
 public:
  // `steps`: up to and with the billed one. `load`: what it draws, as a share of the way from idle
  // to the power limit. A bill without operators is passed over.
  void add(const cost::StepBill& bill, const cost::Spread& spread, double load, std::int64_t steps);
  StepTimes totals(double busy_s, std::int64_t steps) const;

 private:
  OperatorUse& use(const std::string& name);

  StepTimes sums_;
  double billed_s_ = 0, low_s_ = 0, high_s_ = 0;
  std::int64_t billed_steps_ = 0;
};

}  // namespace kvsim::engine
