#include "kernels/host/problem.h"
#include "kernels/stream/family.h"

namespace kvsim::kernels {

std::span<const Family> families() {
  static const Family list[] = {
      {"stream", "bandwidth of copies", stream_edge_cases, stream_quick_cases, stream_bench_cases},
  };
  return list;
}

}  // namespace kvsim::kernels
