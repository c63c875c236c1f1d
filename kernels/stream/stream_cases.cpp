#include <initializer_list>

#include "kernels/stream/family.h"

namespace kvsim::kernels {
namespace {

Problems streams(std::initializer_list<std::int64_t> sizes, std::int64_t most_blocks) {
  Problems out;
  for (const std::int64_t bytes : sizes) {
    out.push_back(make_copy(bytes, most_blocks));
    out.push_back(make_read(bytes, most_blocks));
    out.push_back(make_write(bytes, most_blocks));
  }
  return out;
}

}  // namespace

// Around the tiles of one block (4, 8, 16 and 32 KB); by so few blocks that each goes through its
// ring of 48 KB several times.
Problems stream_edge_cases() {
  return streams({0, 16, 4080, 4096, 4112, 8176, 8208, 16368, 16400, 32752, 32784, 1 << 20}, 3);
}
Problems stream_quick_cases() { return streams({1 << 16}, 1); }
// The largest size gives the bandwidth, the others the constant of t = t0 + bytes / bandwidth.
Problems stream_bench_cases() {
  return streams({std::int64_t{1} << 30, 1 << 26, 1 << 22}, stream_blocks);
}

}  // namespace kvsim::kernels
