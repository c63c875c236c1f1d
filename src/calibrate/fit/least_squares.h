#pragma once
#include <functional>
#include <span>
#include <vector>

namespace kvsim::calibrate {

// Robust bounded least squares: minimises sum of soft_l1(residual) over x with low <= x <= high by
// Levenberg-Marquardt on the reweighted problem, Jacobian by forward differences of `step`.
// soft_l1(r) = 2 s^2 (sqrt(1 + (r/s)^2) - 1) with scale s: rows far off count by their distance,
// not its square.
struct LeastSquares {
  std::vector<double> low, high;
  double scale = 0.05;
  double step = 0.01;
  int iterations = 40;
  // Fills `residuals` (its size is fixed) at x.
  std::function<void(std::span<const double> x, std::span<double> residuals)> residuals;
  std::size_t rows = 0;
};
struct Minimum {
  std::vector<double> x;
  double loss = 0;                 // mean over the rows
  std::vector<double> covariance;  // lower triangle by rows, of x; bounds ignored
};
Minimum minimise(const LeastSquares& problem, std::vector<double> start);

}  // namespace kvsim::calibrate
