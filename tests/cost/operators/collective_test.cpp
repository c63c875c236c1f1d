#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cost/operators/form.h"

using namespace kvsim::cost;

namespace {

Collective call(Collective::Op op, double n, double bytes, double gpus_per_node = 8) {
  Collective s;
  s.op = op, s.num_gpus = n, s.bytes = bytes, s.gpus_per_node = gpus_per_node;
  return s;
}

double us(std::string_view form, const Collective& s, const std::vector<double>& p) {
  const Form* f = find_form("comm", form);
  REQUIRE(f);
  REQUIRE(f->parameters.size() == p.size());
  return f->microseconds(s, Device{}, p, Buffers::cold);
}

using Op = Collective::Op;

}  // namespace

TEST_CASE("a collective of one algorithm is its floor and what a rank sends over its rate") {
  const std::vector<double> p{5, 1.5, 100, 0.8};  // us, per doubling, GB/s, per doubling
  const double bytes = 1e7;
  CHECK(us("line", call(Op::all_reduce, 2, bytes), p) == doctest::Approx(5 + bytes / 100e3));
  CHECK(us("line", call(Op::all_reduce, 8, bytes), p) ==
        doctest::Approx(5 * 2.25 + 2 * 7.0 / 8 * bytes / 64e3));
  CHECK(us("line", call(Op::all_gather, 4, bytes), p) ==
        doctest::Approx(5 * 1.5 + 0.75 * bytes / 80e3));
  // Half of an all-reduce is a reduce-scatter, the other half an all-gather.
  const double halves = us("line", call(Op::reduce_scatter, 8, bytes), p) +
                        us("line", call(Op::all_gather, 8, bytes), p);
  CHECK(halves - us("line", call(Op::all_reduce, 8, bytes), p) == doctest::Approx(5 * 2.25));
  CHECK(us("line", call(Op::send_recv, 2, bytes), p) == doctest::Approx(5 + bytes / 100e3));
}

TEST_CASE("of several algorithms a collective takes the fastest at every size") {
  const std::vector<double> p{3, 1.2, 20, 0.5, 10, 1.3, 100, 0.9, 60, 1.3, 250, 1.1};
  double before = 0;
  for (const double n : {2.0, 4.0, 8.0})
    for (double bytes = 256; bytes < 2e9; bytes *= 2) {
      const Collective s = call(Op::all_reduce, n, bytes);
      double least = HUGE_VAL;
      for (std::size_t i = 0; i < p.size(); i += 4)
        least = std::min(least,
                         us("line", s,
                            std::vector<double>(p.begin() + static_cast<std::ptrdiff_t>(i),
                                                p.begin() + static_cast<std::ptrdiff_t>(i + 4))));
      const double t = us("three_regimes", s, p);
      CHECK(t <= least * (1 + 1e-12));
      CHECK(t >= least * std::pow(3, -0.1));  // three that are equally fast
      if (bytes > 256) CHECK(t > before);
      before = t;
    }
}

TEST_CASE(
    "an eager collective takes its launch while it is short and nothing for it once it is long") {
  const std::vector<double> eager{20, 25, 40, 3, 1.2, 100, 0.7, 15, 1.3, 200, 1};
  const std::vector<double> graph(eager.begin() + 3, eager.end());
  const Collective tiny = call(Op::all_reduce, 4, 1024), huge = call(Op::all_reduce, 4, 1e8);
  CHECK(us("eager_two_regimes", tiny, eager) == doctest::Approx(25).epsilon(1e-3));
  for (const auto& [n, launch] : {std::pair{2.0, 20.0}, {3.0, 22.92}, {8.0, 40.0}, {16.0, 40.0}})
    CHECK(us("eager_two_regimes", call(Op::all_reduce, n, 1024), eager) ==
          doctest::Approx(launch).epsilon(1e-3));
  CHECK(us("eager_two_regimes", huge, eager) ==
        doctest::Approx(us("two_regimes", huge, graph)).epsilon(1e-3));
}

TEST_CASE("a collective over nodes is bound by the network whatever its node could do") {
  std::vector<double> p(20, 1.0);
  p[0] = 5, p[2] = p[6] = p[10] = 200, p[4] = p[8] = 1000;
  p[12] = 40, p[14] = 7, p[15] = 1.5, p[16] = 4000, p[18] = 7;
  const double bytes = 1e6, inside = us("nodes", call(Op::all_reduce, 4, bytes, 4), p);
  CHECK(inside == doctest::Approx(5 + 1.5 * bytes / 200e3));
  // Two nodes of four: their common link serves more GPUs at a rate that grows by 1.5 a doubling.
  const Collective outside = call(Op::all_reduce, 8, bytes, 4);
  const double network = 40 + 1.75 * bytes / (7e3 * 2.25);
  CHECK(us("nodes", outside, p) == doctest::Approx(network).epsilon(1e-6));
  for (std::size_t i = 0; i < 12; ++i) p[i] *= 2;
  CHECK(us("nodes", outside, p) == doctest::Approx(network).epsilon(1e-6));
}
