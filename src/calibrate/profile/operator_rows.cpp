#include "calibrate/profile/operator_rows.h"

#include <fmt/format.h>

#include "calibrate/fit/shape_of.h"

namespace kvsim::calibrate {

OperatorKey catalog_key(const Measurement& m, Gpus& gpus) {
  OperatorKey key = key_of(m);
  key.gpu = gpus.id(m.gpu);
  return key;
}

bool RowGroups::add(const MeasuredRow& row, Place& place, std::string& why) {
  const Measurement& m = row.measurement;
  if (!m.unmeasured.empty() || m.figures.empty()) return why = m.unmeasured, false;
  const spec::GpuSpec* gpu = gpus_.find(m.gpu);
  if (!gpu) return why = fmt::format("GPU \"{}\" is not in the catalog", m.gpu), false;
  OperatorShape shape = shape_of(m);
  if (!shape.unrepresentable.empty()) return why = std::move(shape.unrepresentable), false;
  const auto [at, fresh] = ids_.try_emplace(catalog_key(m, gpus_), groups_.size());
  if (fresh) groups_.push_back({at->first, cost::device_of(*gpu), {}, {}, {}});
  OperatorRows& group = groups_[at->second];
  place = {at->second, group.samples.size()};
  group.samples.push_back({shape.shape, 1e6 * m.figures.front().value, m.buffers});
  group.places.push_back(row.place);
  group.keys.push_back(row.key);
  return true;
}

}  // namespace kvsim::calibrate
