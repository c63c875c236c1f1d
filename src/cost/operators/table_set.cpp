#include "cost/operators/table_set.h"

#include <array>

namespace kvsim::cost {

std::size_t TableSet::axis(const ResidualTable::Axis& wanted) {
  const auto feature = static_cast<std::size_t>(wanted.feature);
  for (std::size_t i = 0; i < axes_.size(); ++i)
    if (axes_[i].feature == feature && axes_[i].knots == wanted.knots) return i;
  axes_.push_back({feature, wanted.knots});
  return axes_.size() - 1;
}

TableSet::TableSet(const std::vector<ResidualTable>& tables) {
  for (const ResidualTable& t : tables) {
    const std::size_t first = axis(t.axes[0]);
    const bool is_flat = t.axes.size() == 1;
    const std::size_t second = is_flat ? first : axis(t.axes[1]);
    tables_.push_back({first, second, is_flat, axes_[second].knots.size(), values_.size()});
    values_.insert(values_.end(), t.values.begin(), t.values.end());
  }
}

double TableSet::at(const Features& features) const {
  std::array<KnotPlace, most_axes> places{};
  const auto look_up = [&](std::size_t i) {
    return place_among(axes_[i].knots, features[axes_[i].feature]);
  };
  for (std::size_t i = 0; i < axes_.size() && i < most_axes; ++i) places[i] = look_up(i);
  double log = 0;
  for (const Table& t : tables_) {
    const KnotPlace a = t.first < most_axes ? places[t.first] : look_up(t.first);
    const double* values = values_.data() + t.values;
    if (t.is_flat) {
      log += a.fade * (1 - a.share) * values[a.low] + a.fade * a.share * values[a.low + 1];
      continue;
    }
    const KnotPlace b = t.second < most_axes ? places[t.second] : look_up(t.second);
    const double* corner = values + a.low * t.stride + b.low;
    const double fade = a.fade * b.fade;
    double sum = 0;
    sum += fade * (1 - a.share) * (1 - b.share) * corner[0];
    sum += fade * (1 - a.share) * b.share * corner[1];
    sum += fade * a.share * (1 - b.share) * corner[t.stride];
    sum += fade * a.share * b.share * corner[t.stride + 1];
    log += sum;
  }
  return log;
}

}  // namespace kvsim::cost
