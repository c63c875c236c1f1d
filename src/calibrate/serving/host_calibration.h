#pragma once
#include <functional>
#include <string>
#include <vector>

#include "calibrate/measurements/files.h"
#include "calibrate/skipped.h"
#include "cost/step/host_table.h"
#include "spec/catalog.h"

namespace kvsim::calibrate {

// Host constants of every deployment in files of closed-loop runs, over the catalog's fitted
// kernels: an entry per framework, version, GPU, precision and model, one per framework, GPU and
// precision for other models, one per framework for other GPUs, and one for all else.
struct HostCalibration {
  std::int64_t rows = 0, used = 0;
  cost::HostFile file;
  std::vector<SkippedRows> skipped;
};
// `poll` is called between the steps of the work and may throw to stop it.
HostCalibration fit_hosts(std::vector<MeasurementFile> files, const spec::Catalog& catalog,
                          std::string id, std::vector<std::string> sources,
                          const std::function<void()>& poll = {});

}  // namespace kvsim::calibrate
