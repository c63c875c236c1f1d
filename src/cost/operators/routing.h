#pragma once
#include "cost/operators/shapes.h"

// How the tokens of a layer fall on the experts of its busiest rank. Expectations in closed form;
// O(1), no allocation.
//
// Balanced routers deal tokens to experts in turn. Skewed ones give every expert a share drawn from
// a density x^-skew on [1, 0.8 tokens] (on [0.01, 2] while there are fewer picks than experts),
// round the counts, and put the rank with most picks first: so do the benchmarks that the forms are
// fitted to.
namespace kvsim::cost {

class Routing {
 public:
  // `heat` scales how far the busiest rank lies above the mean.
  Routing(const ExpertMlp& s, double heat);

  double picks() const { return picks_; }      // (token, expert) pairs of the rank
  double touched() const { return touched_; }  // experts of the rank with at least one token
  // Tiles of 2^doublings rows over the touched experts, each of which starts its own.
  double tiles(int doublings) const;

 private:
  struct Above {
    double share, mean;  // of experts with more picks; what those add to the mean of all
  };
  Above above(int doublings) const;  // than 2^doublings picks

  double experts_, picks_, touched_, mean_ = 0;
  bool skewed_;
  double low_ = 0, high_ = 0, scale_ = 0;  // of the density, and picks per unit of it
  double log2_scale_ = 0;
  double order_ = 0;              // 1 - skew
  double at_low_ = 0, mass_ = 0;  // low^order; integral of the density
};

}  // namespace kvsim::cost
