#pragma once
#include <span>

#include "kernels/host/problem.h"

namespace kvsim::kernels {

// Gathers the rows of a Check: rel_l2 is |got - want| / |want| over all rows added, in double.
class Comparison {
 public:
  explicit Comparison(double gate) { check_.gate = gate; }
  void add(double got, double want);
  void end_row() { ++check_.rows_checked; }
  Check result() const;

 private:
  Check check_;
  double error2_ = 0, want2_ = 0;
};

// `count` of the numbers 0..total-1, ascending, without repeats, the first and the last among them;
// all of them where total <= count.
std::vector<std::int64_t> sample_rows(std::int64_t total, int count, std::uint64_t seed);

}  // namespace kvsim::kernels
