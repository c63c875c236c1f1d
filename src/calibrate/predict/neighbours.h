#pragma once
#include <cstddef>
#include <limits>
#include <vector>

#include "cost/operators/form.h"

namespace kvsim::calibrate {

// What measured points near a shape leave over of a fit: the mean of log(measured / fitted) over
// the eight nearest, by inverse squared distance in octaves; taken whole up to one octave from the
// nearest and faded out over the next. Cost O(points) a query.
class Neighbours {
 public:
  static constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();

  Neighbours(std::vector<cost::Features> at, std::vector<double> log_ratio, std::size_t features);
  // `left_out` is a point that may not answer for itself.
  double log_ratio(const cost::Features& at, std::size_t left_out = nobody) const;
  // Median of the nearest few, and how far the nearest one is in octaves.
  struct Look {
    double median = 0, distance = 0;
    std::size_t points = 0;
  };
  Look look(const cost::Features& at, std::size_t left_out = nobody) const;

 private:
  struct Near {
    double squared;
    std::size_t point;
  };
  std::vector<Near> nearest(const cost::Features& at, std::size_t left_out) const;

  std::vector<cost::Features> at_;
  std::vector<double> log_ratio_;
  std::size_t features_;
};

}  // namespace kvsim::calibrate
