#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "calibrate/fit/fit.h"
#include "calibrate/measurements/files.h"
#include "calibrate/predict/gpus.h"
#include "calibrate/skipped.h"

namespace kvsim::calibrate {

// The rows of one operator on one GPU, in file order; the vectors run in parallel.
struct OperatorRows {
  OperatorKey key;  // gpu is the catalog's id
  cost::Device device;
  std::vector<Sample> samples;
  std::vector<std::string> places;
  std::vector<std::uint64_t> keys;  // MeasuredRow::key
};

// Sorts rows by what they have in common.
class RowGroups {
 public:
  explicit RowGroups(Gpus& gpus) : gpus_(gpus) {}

  // Nothing when the row asks for what no form describes: then `why` says so.
  struct Place {
    std::size_t group, row;
  };
  bool add(const MeasuredRow& row, Place& place, std::string& why);
  const std::vector<OperatorRows>& groups() const { return groups_; }
  std::vector<OperatorRows> take() { return std::move(groups_); }

 private:
  Gpus& gpus_;
  std::map<OperatorKey, std::size_t> ids_;
  std::vector<OperatorRows> groups_;
};

// The key with the catalog's id for the GPU.
OperatorKey catalog_key(const Measurement& m, Gpus& gpus);

}  // namespace kvsim::calibrate
