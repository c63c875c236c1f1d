#pragma once
#include <algorithm>
#include <cstdint>

namespace kvsim::engine::sglang {

// The share of the output tokens still to come that admission reserves for running requests
// (scheduler_components/new_token_ratio_tracker.py): from min(0.7 * conservativeness, 1) down to
// 14 % of it over 600 decode steps, back to the start when idle, and after a retraction what the
// survivors used of their limits, with room for 20 more tokens each.
class NewTokenRatio {
 public:
  static constexpr std::int64_t retract_steps = 20;  // SGLANG_RETRACT_DECODE_STEPS

  explicit NewTokenRatio(double conservativeness)
      : start_(std::min(0.7 * conservativeness, 1.0)),
        least_(start_ * 0.14),
        decay_((start_ - least_) / 600),
        value_(start_) {}

  double value() const { return value_; }
  void reset() { value_ = start_; }
  void decay() { value_ = std::max(value_ - decay_, least_); }
  void after_retraction(std::int64_t requests, std::int64_t outputs, std::int64_t most_outputs) {
    value_ = std::min(1.0, static_cast<double>(outputs + retract_steps * requests) /
                               static_cast<double>(most_outputs + 1));
  }

 private:
  double start_, least_, decay_, value_;
};

}  // namespace kvsim::engine::sglang
