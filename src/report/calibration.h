#pragma once
#include <string>

#include "calibrate/profile/calibration.h"
#include "calibrate/serving/host_calibration.h"

namespace kvsim::report {

inline constexpr const char* calibration_schema = "kvsim.calibration/1";

// Tables for people: one line per operator with its errors in and out of sample, a fitted roofline
// and published fits beside it; errors by how long calls take; the worst rows by name; rows that no
// form describes. The last line says what to do next. `profile` is where the cost files went, ""
// where they were not written.
std::string calibration_text(const calibrate::Calibration& calibration, const std::string& profile);

// The same figures as kvsim.calibration/1. Errors are fractions.
std::string calibration_json(const calibrate::Calibration& calibration);

// A kvsim.host/1 document, an entry per line.
std::string host_json(const cost::HostFile& file);

}  // namespace kvsim::report
