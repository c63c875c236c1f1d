#include "calibrate/fit/least_squares.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace kvsim::calibrate {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

double loss_of(std::span<const double> r, double s) {
  double sum = 0;
  for (const double v : r) sum += 2 * s * s * (std::sqrt(1 + v * v / (s * s)) - 1);
  return std::isfinite(sum) ? sum / static_cast<double>(r.size()) : HUGE_VAL;
}

struct Normal {
  MatrixXd a;  // J^T W J
  VectorXd g;  // J^T W r
};

Normal normal_equations(const LeastSquares& p, const std::vector<double>& x,
                        std::span<const double> r) {
  const auto n = static_cast<Eigen::Index>(x.size()), m = static_cast<Eigen::Index>(r.size());
  MatrixXd jacobian(m, n);
  std::vector<double> moved = x, at(r.size());
  for (std::size_t j = 0; j < x.size(); ++j) {
    const double h = x[j] + p.step <= p.high[j] ? p.step : -p.step;
    const auto column = static_cast<Eigen::Index>(j);
    if (p.low[j] >= p.high[j]) {
      jacobian.col(column).setZero();
      continue;
    }
    moved[j] = x[j] + h;
    p.residuals(moved, at);
    moved[j] = x[j];
    for (Eigen::Index i = 0; i < m; ++i) {
      const auto row = static_cast<std::size_t>(i);
      const double w = std::pow(1 + r[row] * r[row] / (p.scale * p.scale), -0.25);  // sqrt(weight)
      jacobian(i, column) = w * (at[row] - r[row]) / h;
    }
  }
  VectorXd weighted(m);
  for (Eigen::Index i = 0; i < m; ++i) {
    const double v = r[static_cast<std::size_t>(i)];
    weighted(i) = v * std::pow(1 + v * v / (p.scale * p.scale), -0.25);
  }
  return {jacobian.transpose() * jacobian, jacobian.transpose() * weighted};
}

}  // namespace

Minimum minimise(const LeastSquares& p, std::vector<double> x) {
  const std::size_t n = x.size();
  for (std::size_t j = 0; j < n; ++j) x[j] = std::clamp(x[j], p.low[j], p.high[j]);
  std::vector<double> r(p.rows), tried(p.rows);
  p.residuals(x, r);
  double loss = loss_of(r, p.scale), damping = 1e-2;
  Normal normal;
  bool fresh = false;
  for (int iteration = 0; iteration < p.iterations; ++iteration) {
    if (!fresh) normal = normal_equations(p, x, r);
    fresh = true;
    MatrixXd a = normal.a;
    for (std::size_t j = 0; j < n; ++j) {
      const auto k = static_cast<Eigen::Index>(j);
      // A parameter at its bound that wants to cross it stays there.
      const bool stuck =
          (x[j] <= p.low[j] && normal.g(k) > 0) || (x[j] >= p.high[j] && normal.g(k) < 0);
      if (stuck || a(k, k) <= 0)
        a.row(k).setZero(), a.col(k).setZero(), a(k, k) = 1;
      else
        a(k, k) += damping * (a(k, k) + 1e-6 * static_cast<double>(p.rows));
      if (stuck) normal.g(k) = 0;
    }
    const VectorXd move = a.ldlt().solve(-normal.g);
    std::vector<double> next = x;
    double far = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const double d = std::clamp(move(static_cast<Eigen::Index>(j)), -1.5, 1.5);
      next[j] = std::clamp(x[j] + d, p.low[j], p.high[j]);
      far = std::max(far, std::abs(next[j] - x[j]));
    }
    p.residuals(next, tried);
    const double better = loss_of(tried, p.scale);
    if (better < loss) {
      const bool done = loss - better < 1e-5 * loss;
      x = std::move(next), std::swap(r, tried), loss = better;
      damping = std::max(1e-7, damping / 4), fresh = false;
      if (done) break;
    } else {
      damping *= 5;
      if (damping > 1e6 || far < 1e-6) break;
    }
  }
  Minimum out;
  normal = normal_equations(p, x, r);
  double variance = 0;
  for (const double v : r) variance += v * v / std::sqrt(1 + v * v / (p.scale * p.scale));
  variance /= std::max<double>(1, static_cast<double>(p.rows) - static_cast<double>(n));
  const MatrixXd inverse =
      (normal.a +
       1e-9 * (1 + normal.a.trace()) *
           MatrixXd::Identity(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n)))
          .ldlt()
          .solve(MatrixXd::Identity(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n)));
  for (Eigen::Index i = 0; i < static_cast<Eigen::Index>(n); ++i)
    for (Eigen::Index j = 0; j <= i; ++j) out.covariance.push_back(variance * inverse(i, j));
  out.x = std::move(x), out.loss = loss;
  return out;
}

}  // namespace kvsim::calibrate
