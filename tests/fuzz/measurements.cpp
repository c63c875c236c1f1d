#include <cmath>
#include <string>

#include "calibrate/validation.h"
#include "diag/check.h"
#include "fuzz/targets.h"

namespace kvsim::fuzz {

void measurements(std::string_view text) {
  static const spec::Catalog catalog;
  const auto v = calibrate::validate(
      std::vector<calibrate::MeasurementFile>{{"input", std::string(text)}}, catalog);
  for (const calibrate::Point& p : v.points)
    KVSIM_CHECK(p.predicted > 0 && std::isfinite(p.predicted) && p.measured > 0, "{} predicted {}",
                p.place, p.predicted);
}

}  // namespace kvsim::fuzz
