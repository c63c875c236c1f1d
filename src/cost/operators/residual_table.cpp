#include "cost/operators/residual_table.h"

#include <algorithm>

namespace kvsim::cost {
namespace {

constexpr double fade_octaves = 2;

}  // namespace

KnotPlace place_among(const std::vector<double>& knots, double x) {
  KnotPlace out;
  const double beyond = x < knots.front() ? knots.front() - x : x - knots.back();
  if (beyond > 0) out.fade = std::max(0.0, 1 - beyond / fade_octaves);
  // Knots are mostly evenly spaced: a guess that is right then, and walks to the place otherwise.
  const std::size_t last = knots.size() - 2;
  const double along = std::clamp((x - knots.front()) / (knots.back() - knots.front()), 0.0, 1.0);
  out.low = std::min(last, static_cast<std::size_t>(along * static_cast<double>(last + 1)));
  while (out.low > 0 && x < knots[out.low]) --out.low;
  while (out.low < last && x >= knots[out.low + 1]) ++out.low;
  out.share = std::clamp((x - knots[out.low]) / (knots[out.low + 1] - knots[out.low]), 0.0, 1.0);
  return out;
}

int ResidualTable::terms(const Features& features, std::array<Term, 4>& out) const {
  const KnotPlace a =
      place_among(axes[0].knots, features[static_cast<std::size_t>(axes[0].feature)]);
  if (axes.size() == 1) {
    out[0] = {a.low, a.fade * (1 - a.share)};
    out[1] = {a.low + 1, a.fade * a.share};
    return 2;
  }
  const KnotPlace b =
      place_among(axes[1].knots, features[static_cast<std::size_t>(axes[1].feature)]);
  const std::size_t stride = axes[1].knots.size(), corner = a.low * stride + b.low;
  const double fade = a.fade * b.fade;
  out[0] = {corner, fade * (1 - a.share) * (1 - b.share)};
  out[1] = {corner + 1, fade * (1 - a.share) * b.share};
  out[2] = {corner + stride, fade * a.share * (1 - b.share)};
  out[3] = {corner + stride + 1, fade * a.share * b.share};
  return 4;
}

double ResidualTable::at(const Features& features) const {
  std::array<Term, 4> found{};
  double sum = 0;
  for (int i = 0, n = terms(features, found); i < n; ++i) {
    const Term& t = found[static_cast<std::size_t>(i)];
    sum += t.weight * values[t.index];
  }
  return sum;
}

void fields(config::FieldVisitor& v, ResidualTable::Axis& a) {
  v.field({"feature", "index of the form's feature", "", true}, a.feature,
          config::between(0, max_features - 1));
  v.field({"knots", "log2 of the feature, ascending", "", true}, a.knots);
}

void fields(config::FieldVisitor& v, ResidualTable& t) {
  v.list({"axes", "one or two", "", true}, t.axes);
  v.field({"values", "log(measured / form) at the knots, the last axis fastest", "", true},
          t.values);
}

}  // namespace kvsim::cost
