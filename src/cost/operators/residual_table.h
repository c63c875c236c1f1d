#pragma once
#include <cstdint>
#include <vector>

#include "config/fields.h"
#include "cost/operators/form.h"

namespace kvsim::cost {

// What a form leaves over, as a smooth table: log(measured / form), bilinear between knots on one
// or two features (log2 of sizes). Beyond its edges the edge's value fades to 0 over two octaves.
struct ResidualTable {
  struct Axis {
    std::int64_t feature = 0;   // index in Form::feature_names
    std::vector<double> knots;  // ascending, at least two
  };
  std::vector<Axis> axes;      // one or two
  std::vector<double> values;  // row-major, the last axis fastest

  double at(const Features& features) const;
  // The (at most four) values that a point reads, with their weights; returns how many.
  struct Term {
    std::size_t index;
    double weight;
  };
  int terms(const Features& features, std::array<Term, 4>& out) const;
};

// Where a coordinate lies among ascending knots, at least two.
struct KnotPlace {
  std::size_t low = 0;  // left knot
  double share = 0;     // of the right knot
  double fade = 1;      // below 1 beyond the edges
};
KnotPlace place_among(const std::vector<double>& knots, double x);

void fields(config::FieldVisitor& v, ResidualTable::Axis& a);
void fields(config::FieldVisitor& v, ResidualTable& t);

}  // namespace kvsim::cost
