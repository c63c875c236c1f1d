#include "cost/operators/routing.h"

#include <algorithm>
#include <cmath>

namespace kvsim::cost {
namespace {

// 1 - skew, stepped around the values at which an integral of the density or of its first three
// moments turns into a logarithm.
double order_of(double skew) {
  constexpr double near = 1e-4;
  const double order = 1 - skew, whole = std::round(order);
  return whole <= 0 && whole >= -3 && std::abs(order - whole) < near ? whole + near : order;
}

// Expected largest of n sums that have been brought to mean 0 and deviation 1: of normals within
// 3 %, bent by the sums' skewness as Wilson and Hilferty bend a gamma variate.
double largest_of(double n, double skewness) {
  const double log = std::log(n), normal = 0.90 * log / (1 + 0.145 * log);
  if (normal <= 0 || skewness < 0.05) return normal;
  const double shape = 4 / (skewness * skewness), root = std::sqrt(shape);
  const double bent = 1 - 1 / (9 * shape) + normal / (3 * root);
  return root * (bent * bent * bent - 1);
}

}  // namespace

Routing::Routing(const ExpertMlp& s, double heat)
    : experts_(s.n_experts / s.moe_ep), skewed_(s.skew > 0) {
  const double all = s.tokens * s.topk, mean = all / s.n_experts;
  // No expert takes a token twice.
  const double most = s.tokens * std::min(s.topk, experts_);
  if (!skewed_) {
    picks_ = std::min(most, experts_ * mean);
    touched_ = std::min(experts_, std::max(1.0, picks_));
    mean_ = picks_ / touched_;
    return;
  }
  const bool many = all > s.n_experts;
  low_ = many ? 1 : 0.01, high_ = many ? std::max(0.8 * s.tokens, 1.01) : 2;
  order_ = order_of(s.skew);
  at_low_ = std::pow(low_, order_);
  const double at_high = std::pow(high_, order_);
  mass_ = (at_high - at_low_) / order_;
  double moments[3], up = at_high, down = at_low_;
  for (int i = 0; i < 3; ++i) {
    up *= high_, down *= low_;
    moments[i] = (up - down) / ((order_ + i + 1) * mass_);
  }
  scale_ = mean / moments[0], log2_scale_ = std::log2(scale_);
  const double square = moments[0] * moments[0];
  const double deviation = std::sqrt(std::max(1e-12, moments[1] - square));
  const double skewness = (moments[2] - 3 * moments[0] * moments[1] + 2 * moments[0] * square) /
                          (deviation * deviation * deviation * std::sqrt(experts_));
  const double excess = heat * largest_of(s.moe_ep, skewness) * scale_ * deviation *
                        std::sqrt(experts_ * (1 - 1 / s.moe_ep));
  mean_ = mean;
  picks_ = std::min({most, all, experts_ * mean + excess, experts_ * scale_ * high_});
  picks_ = std::max(picks_, experts_ * mean);
  // What rounding takes from the small ones is given back to the smallest, one each.
  const Above half = above(-1);
  const double touched = half.share + std::min(1 - half.share, mean - half.mean);
  touched_ = std::clamp(experts_ * touched, std::min(1.0, picks_), std::min(experts_, picks_));
  touched_ = std::max(touched_, std::min(1.0, picks_));
}

Routing::Above Routing::above(int doublings) const {
  const double share = std::ldexp(1, doublings) / scale_;
  const double x = std::clamp(share, low_, high_), at_high = mass_ * order_ + at_low_;
  const double at = x == low_    ? at_low_
                    : x == high_ ? at_high
                                 : std::exp2(order_ * (doublings - log2_scale_));
  return {(at_high - at) / (order_ * mass_),
          scale_ * (at_high * high_ - at * x) / ((order_ + 1) * mass_)};
}

double Routing::tiles(int doublings) const {
  const double rows = std::ldexp(1, doublings);
  if (!skewed_) return touched_ * std::ceil(mean_ / rows);
  const Above a = above(doublings);
  const double excess = picks_ - experts_ * mean_;  // lies with large experts
  return touched_ + experts_ * (a.mean / rows - 0.5 * a.share) + excess / rows;
}

}  // namespace kvsim::cost
