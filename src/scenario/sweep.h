#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/result.h"
#include "scenario/load.h"

namespace kvsim::scenario {

// One dimension of a sweep: a field and the values it takes.
struct Axis {
  std::string path;
  std::vector<std::string> values;
};

// Reads "path=a,b,c" or "path=low:high:step" (numbers, high included when a step lands on it).
// True: `axis` is filled. False: `problem` says what was expected.
bool parse_axis(std::string_view text, Axis& axis, std::string& problem);

struct SweepPoint {
  std::size_t index = 0;            // place in the grid; the last axis turns fastest
  std::vector<std::string> values;  // one per axis
  std::optional<metrics::RunResult> result;
  std::string error;  // why this point could not be simulated
};

struct SweepOptions {
  std::vector<Override> overrides;  // of every point, before the axes
  std::optional<std::int64_t> seed;
  int jobs = 1;                       // simulations at a time
  bool intervals = false;             // of every point: three runs in place of one
  std::size_t shard = 0, shards = 1;  // only the points with index % shards == shard
  const std::atomic<bool>* stop = nullptr;
  std::function<void(std::size_t done, std::size_t all)>
      progress;  // called from any thread, one at a time
};

// Number of points of the grid.
std::size_t grid_size(const std::vector<Axis>& axes);

// Simulates every point of the grid. Points are independent, so the answer (ordered by index) is
// the same for any number of jobs. A point whose scenario is refused carries the reason instead of
// a result; with `stop`, points not finished are left out.
std::vector<SweepPoint> sweep(const std::string& path, const spec::Catalog& catalog,
                              const std::vector<Axis>& axes, const SweepOptions& options);

}  // namespace kvsim::scenario
