#include "calibrate/fit/tables.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace kvsim::calibrate {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Tables = std::vector<cost::ResidualTable>;

constexpr double robust_scale = 0.05;
constexpr int folds = 4;
// Tables of so few numbers may have one for each row: their stiffness holds what no row does.
constexpr std::size_t few_numbers = 64;

struct Edges {
  std::vector<double> low, high;
  std::vector<std::vector<double>> values;  // distinct ones, ascending
};

Edges edges_of(std::span<const Residual> rows, int features) {
  Edges e;
  for (std::size_t f = 0; f < static_cast<std::size_t>(features); ++f) {
    std::vector<double> values;
    for (const Residual& r : rows) values.push_back(r.features[f]);
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    e.low.push_back(values.front()), e.high.push_back(values.back());
    e.values.push_back(std::move(values));
  }
  return e;
}

cost::ResidualTable blank(const std::vector<int>& axes, const Edges& e, int knots) {
  cost::ResidualTable t;
  std::size_t size = 1;
  for (const int feature : axes) {
    const auto f = static_cast<std::size_t>(feature);
    cost::ResidualTable::Axis axis{feature, {}};
    // A feature of few values (counts of GPUs) has its knots there.
    if (e.values[f].size() <= static_cast<std::size_t>(knots))
      axis.knots = e.values[f];
    else
      for (int i = 0; i < knots; ++i)
        axis.knots.push_back(e.low[f] + (e.high[f] - e.low[f]) * i / (knots - 1));
    size *= axis.knots.size();
    t.axes.push_back(std::move(axis));
  }
  t.values.assign(size, 0);
  return t;
}

// Ridge on the values and on their second differences along each axis; the lower triangle.
MatrixXd penalty_of(const Tables& tables, const std::vector<Eigen::Index>& offset, Eigen::Index n,
                    double stiffness) {
  MatrixXd penalty = MatrixXd::Zero(n, n);
  for (std::size_t k = 0; k < tables.size(); ++k) {
    const auto& t = tables[k];
    const auto last = static_cast<Eigen::Index>(t.axes.back().knots.size());
    const Eigen::Index size = static_cast<Eigen::Index>(t.values.size()), o = offset[k];
    const auto curve = [&](Eigen::Index a, Eigen::Index b, Eigen::Index c) {
      const std::array<std::pair<Eigen::Index, double>, 3> terms{{{a, 1}, {b, -2}, {c, 1}}};
      for (const auto& [i, u] : terms)
        for (const auto& [j, v] : terms)
          if (j <= i) penalty(o + i, o + j) += stiffness * u * v;
    };
    for (Eigen::Index i = 0; i < size; ++i) {
      penalty(o + i, o + i) += 0.05 * stiffness + 1e-6;
      if (i % last + 2 < last) curve(i, i + 1, i + 2);
      if (t.axes.size() == 2 && i + 2 * last < size) curve(i, i + last, i + 2 * last);
    }
  }
  return penalty;
}

// The values that a row reads of all tables, numbered through, with their weights.
struct Reads {
  std::array<std::pair<Eigen::Index, double>, 24> of{};
  std::size_t count = 0;
};
Reads reads_of(const Tables& tables, const std::vector<Eigen::Index>& offset,
               const cost::Features& features) {
  Reads out;
  for (std::size_t k = 0; k < tables.size(); ++k) {
    std::array<cost::ResidualTable::Term, 4> terms{};
    for (int t = 0, m = tables[k].terms(features, terms); t < m; ++t) {
      const auto& term = terms[static_cast<std::size_t>(t)];
      if (term.weight > 0)
        out.of[out.count++] = {offset[k] + static_cast<Eigen::Index>(term.index), term.weight};
    }
  }
  std::sort(out.of.begin(), out.of.begin() + static_cast<std::ptrdiff_t>(out.count));
  return out;
}

// What a fall counts against rows, and how far a time may fall, as a logarithm.
constexpr double fall_weight = 20, fall_allowed = 0.02;

// Adds the growths whose time falls at x, as equations that set them to the fall allowed.
void hold_falls(std::span<const Growth> growths, const std::vector<Reads>& from,
                const std::vector<Reads>& to, const VectorXd& x, MatrixXd& a, VectorXd& b) {
  for (std::size_t i = 0; i < growths.size(); ++i) {
    std::array<std::pair<Eigen::Index, double>, 48> of{};
    std::size_t count = 0;
    for (std::size_t p = 0; p < to[i].count; ++p) of[count++] = to[i].of[p];
    for (std::size_t p = 0; p < from[i].count; ++p)
      of[count++] = {from[i].of[p].first, -from[i].of[p].second};
    double gain = growths[i].form_gain;
    for (std::size_t p = 0; p < count; ++p) gain += of[p].second * x(of[p].first);
    if (gain >= -fall_allowed || growths[i].form_gain < -fall_allowed) continue;
    const double target = -fall_allowed - growths[i].form_gain;
    for (std::size_t q = 0; q < count; ++q) {
      b(of[q].first) += fall_weight * of[q].second * target;
      for (std::size_t p = 0; p < count; ++p)
        if (of[p].first >= of[q].first)
          a(of[p].first, of[q].first) += fall_weight * of[q].second * of[p].second;
    }
  }
}

// Least squares with the penalty, reweighted for robustness.
void solve(Tables& tables, std::span<const Residual> rows, double stiffness,
           std::span<const Growth> growths) {
  Eigen::Index n = 0;
  std::vector<Eigen::Index> offset;
  for (const auto& t : tables) offset.push_back(n), n += static_cast<Eigen::Index>(t.values.size());
  const MatrixXd penalty = penalty_of(tables, offset, n, stiffness);
  std::vector<Reads> reads;
  for (const Residual& r : rows) reads.push_back(reads_of(tables, offset, r.features));
  std::vector<Reads> from, to;
  for (const Growth& g : growths) {
    from.push_back(reads_of(tables, offset, g.from));
    to.push_back(reads_of(tables, offset, g.to));
  }
  VectorXd x = VectorXd::Zero(n);
  MatrixXd a(n, n);
  for (int round = 0; round < (growths.empty() ? 4 : 8); ++round) {
    a = penalty;
    VectorXd b = VectorXd::Zero(n);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Reads& read = reads[i];
      double left = rows[i].log_ratio;
      for (std::size_t p = 0; p < read.count; ++p) left -= read.of[p].second * x(read.of[p].first);
      const double z = left / robust_scale;
      const double w = rows[i].weight / std::sqrt(1 + z * z);
      for (std::size_t q = 0; q < read.count; ++q) {
        const auto& [column, share] = read.of[q];
        b(column) += w * share * rows[i].log_ratio;
        for (std::size_t p = q; p < read.count; ++p)
          a(read.of[p].first, column) += w * share * read.of[p].second;
      }
    }
    if (round > 0) hold_falls(growths, from, to, x, a, b);
    x = a.selfadjointView<Eigen::Lower>().llt().solve(b);
  }
  for (std::size_t k = 0; k < tables.size(); ++k)
    for (std::size_t i = 0; i < tables[k].values.size(); ++i)
      tables[k].values[i] = x(offset[k] + static_cast<Eigen::Index>(i));
}

double mean_error(const Tables& tables, std::span<const Residual> rows) {
  double sum = 0, weights = 0;
  for (const Residual& r : rows) {
    double left = r.log_ratio;
    for (const auto& t : tables) left -= t.at(r.features);
    sum += r.weight * std::abs(left), weights += r.weight;
  }
  return weights > 0 ? sum / weights : 0;
}

// Error of tables of this shape over folds that each leave a quarter out.
double cross_validated(const Tables& shape, std::span<const Residual> rows, double stiffness,
                       std::span<const Growth> growths) {
  double sum = 0;
  for (int fold = 0; fold < folds; ++fold) {
    std::vector<Residual> kept, left;
    for (std::size_t i = 0; i < rows.size(); ++i)
      (static_cast<int>(i % folds) == fold ? left : kept).push_back(rows[i]);
    Tables t = shape;
    solve(t, kept, stiffness, growths);
    sum += mean_error(t, left);
  }
  return sum / folds;
}

}  // namespace

Tables fit_tables(std::span<const Residual> rows, int features, std::span<const Growth> growths) {
  if (rows.size() < 30 || features < 1) return {};
  const Edges e = edges_of(rows, features);
  std::vector<std::vector<int>> pairs;
  for (int a = 0; a < features; ++a) {
    const auto i = static_cast<std::size_t>(a);
    if (e.high[i] - e.low[i] < 0.5) continue;
    bool paired = false;
    for (int b = a + 1; b < features; ++b) {
      const auto j = static_cast<std::size_t>(b);
      if (e.high[j] - e.low[j] < 0.5) continue;
      pairs.push_back({a, b}), paired = true;
    }
    if (!paired && pairs.empty()) pairs.push_back({a});
  }
  Tables best;
  double lowest = 0.99 * mean_error({}, rows);  // a table has to be worth its numbers
  for (const int knots : {5, 8, 12}) {
    Tables all;
    for (const auto& pair : pairs) all.push_back(blank(pair, e, knots));
    std::vector<Tables> candidates{all};
    for (const auto& one : all) candidates.push_back({one});
    for (Tables& shape : candidates) {
      std::size_t numbers = 0;
      for (const auto& t : shape) numbers += t.values.size();
      if (numbers > std::max(rows.size() / 3, std::min(rows.size(), few_numbers))) continue;
      if (knots > 8 && numbers > few_numbers) continue;
      for (const double stiffness : {0.2, 1.0, 10.0}) {
        const double error = cross_validated(shape, rows, stiffness, {});
        if (error >= lowest) continue;
        lowest = 0.995 * error, best = shape;
        solve(best, rows, stiffness, growths);
      }
    }
  }
  return best;
}

}  // namespace kvsim::calibrate
