#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/measurements/measurement.h"

namespace kvsim::calibrate {

// The text of a measurement file; `name` is what errors call it.
struct MeasurementFile {
  std::string name, text;
};

struct MeasuredRow {
  Measurement measurement;
  std::string place;      // "file:line", the file's name for JSON documents
  std::uint64_t key = 0;  // hash of what was measured; the latency is not in it
};

// Reads measurement files (CSV or kvbench JSON, recognised by content) in order and hands over row
// by row. Throws InputError with every bad cell after the last one.
void read_measurements(std::vector<MeasurementFile> files,
                       const std::function<void(MeasuredRow&&)>& each);

// "-" is standard input. Throws IoError.
std::vector<MeasurementFile> load_measurement_files(const std::vector<std::string>& paths);

// Whether a row is held out of a fit: the same rows for the same seed, whatever the others are and
// however long they took.
bool is_held_out(std::uint64_t key, double share, std::uint64_t seed);

}  // namespace kvsim::calibrate
