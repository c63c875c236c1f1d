#include "calibrate/serving/host_calibration.h"

#include <fmt/format.h>

#include "calibrate/predict/gpus.h"
#include "calibrate/serving/serving_predictions.h"

namespace kvsim::calibrate {

HostCalibration fit_hosts(std::vector<MeasurementFile> files, const spec::Catalog& catalog,
                          std::string id, std::vector<std::string> sources,
                          const std::function<void()>& poll) {
  HostCalibration out;
  Gpus gpus(catalog);
  SkipCounter skipped;
  ServingPredictions serving(catalog, {HostConstants::none, false, poll});
  read_measurements(std::move(files), [&](MeasuredRow&& row) {
    ++out.rows;
    const Measurement& m = row.measurement;
    if (!std::holds_alternative<Serving>(m.shape))
      return skipped.add("kernel", "not a serving run", row.place);
    const spec::GpuSpec* gpu = gpus.find(m.gpu);
    const std::string why = gpu ? serving.add(m, *gpu).unrepresentable
                                : fmt::format("GPU \"{}\" is not in the catalog", m.gpu);
    if (!why.empty()) return skipped.add("e2e", why, row.place);
    ++out.used;
  });
  out.file.id = std::move(id), out.file.sources = std::move(sources);
  out.file.entries = serving.fit_all();
  out.skipped = skipped.list();
  return out;
}

}  // namespace kvsim::calibrate
