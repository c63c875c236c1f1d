#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kvsim::calibrate {

// A scored figure of a serving run.
struct ServedFigure {
  std::string kernel, part, group;  // group: runs that share host constants
  double measured = 0, predicted = 0;
  double kernel_sigma = 0;
};

// How near serving runs were predicted, by figure and part. Parts: "closed loop"; of closed loops
// apart "deepseek-r1" (whose versions differ most), "recurrent models" and "over 128 in flight";
// "offline".
struct ServingSummary {
  std::string kernel, part;
  std::int64_t n = 0;
  double median_ape = 0, bias = 0;  // bias: median of (predicted - measured) / measured
  double within_20 = 0;             // share of the rows
  // 90 % intervals: kernels' residuals and a discrepancy fitted to the runs of every other group;
  // the share of the other half's figures inside.
  double discrepancy = 0;
  std::optional<double> coverage_90;
};
std::vector<ServingSummary> summarise_serving(const std::vector<ServedFigure>& figures);

}  // namespace kvsim::calibrate
