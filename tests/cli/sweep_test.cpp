#include <doctest/doctest.h>

#include <memory>

#include "cli/harness.h"
#include "cli/scenarios.h"

using kvsim::test::Kvsim;
using kvsim::test::request_lines;
using kvsim::test::small_scenario;

namespace {

const std::string seqs = "cluster.pools.0.engine.max_num_seqs";

// A sweep over `values` of max_num_seqs; 40 requests that arrive together.
class Sweep : public Kvsim {
 public:
  explicit Sweep(const std::string& values)
      : Kvsim({"sweep", "s.json", "--vary", seqs + "=" + values, "--jobs", "2"}) {
    file("s.json", small_scenario()).file("requests.jsonl", request_lines(40, 64, 40, 0));
  }
};

}  // namespace

TEST_CASE("a sweep names the best point and nothing more when all can be simulated and differ") {
  Sweep("4,8").exits(0).out_has("Best by output throughput: --set " + seqs + "=8\n");
}

TEST_CASE("a sweep says how many points it refused") {
  Sweep("4,8,-1").exits(0).out_has("=8 (1 of 3 points refused)\n");
  Sweep("8,-1,-2").exits(0).out_has("Only --set " + seqs +
                                    "=8 can be simulated: 2 of 3 points refused\n");
}

TEST_CASE("a sweep whose points tie names none of them as the best") {
  Sweep("64,128,256")
      .exits(0)
      .out_has("No best by output throughput: all 3 simulated points have ");
  Sweep("64,128,-1").exits(0).out_has("/s (1 of 3 points refused)\n");
  Sweep("4,64,128")
      .exits(0)
      .out_has("Best by output throughput: --set " + seqs + "=64 (1 more as good)\n");
}

TEST_CASE("points of a sweep have intervals where they are asked for") {
  const auto kvsim = [](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"sweep", "s.json", "--vary",
                                 "cluster.pools.0.engine.max_num_seqs=2,4", "--json"});
    auto sweep = std::make_unique<Kvsim>(flags);
    sweep->file("s.json", small_scenario()).file("requests.jsonl", request_lines(6, 64, 4, 1));
    return sweep;
  };
  kvsim({"--intervals"})->exits(0).out_has("\"level_ratio\": 0.9");
  kvsim({})->exits(0).out_lacks("\"level_ratio\"").out_has("\"intervals\": null");
}
