#include <vector>

#include "kernels/gemm/family.h"

namespace kvsim::kernels {
namespace {

void add(Problems& out, GemmFormat format, const std::vector<GemmShape>& shapes) {
  for (const GemmShape& shape : shapes) out.push_back(make_gemm(format, shape));
}

}  // namespace

// Edges of the tiles (16, 32, 64, 128) in M and N, an odd N, and K from one chunk of 16 bytes to
// more stages than the longest ring holds. Nine tiles down are a band of eight and what is left;
// only the largest tile is offered to that many rows.
Problems gemm_edge_cases() {
  Problems out;
  add(out, GemmFormat::bf16,
      {{1, 8, 8},
       {1, 33, 24},
       {16, 32, 64},
       {17, 65, 72},
       {63, 31, 40},
       {64, 64, 56},
       {65, 129, 104},
       {127, 136, 200},
       {128, 128, 32},
       {129, 40, 328},
       {3, 96, 1096},
       {260, 16, 24},
       {1030, 130, 8}});
  add(out, GemmFormat::e4m3,
      {{1, 8, 16},
       {16, 33, 48},
       {17, 65, 144},
       {64, 64, 112},
       {127, 136, 208},
       {129, 40, 656},
       {3, 96, 1104},
       {1030, 130, 16}});
  for (const GemmFormat format : {GemmFormat::bf16, GemmFormat::e4m3}) {
    out.push_back(make_mma_peak(format, 1, 1));
    out.push_back(make_mma_peak(format, 3, 20));
  }
  return out;
}

// K goes more than once round the longest ring.
Problems gemm_quick_cases() {
  Problems out;
  add(out, GemmFormat::bf16, {{17, 40, 584}});
  add(out, GemmFormat::e4m3, {{17, 40, 1104}});
  for (const GemmFormat format : {GemmFormat::bf16, GemmFormat::e4m3})
    out.push_back(make_mma_peak(format, 1, 2));
  return out;
}

// The ceilings first, then the products of a decode step.
Problems gemm_bench_cases() {
  Problems out;
  add(out, GemmFormat::bf16, {{8192, 8192, 8192}});
  for (const GemmFormat format : {GemmFormat::bf16, GemmFormat::e4m3})
    out.push_back(make_mma_peak(format, 1056, 4096));
  add(out, GemmFormat::e4m3, {{8192, 8192, 8192}});
  for (const GemmFormat format : {GemmFormat::bf16, GemmFormat::e4m3})
    add(out, format, {{1, 8192, 8192}, {16, 8192, 8192}, {64, 8192, 8192}, {256, 8192, 8192}});
  for (const int m : {1, 8, 32, 128, 256}) add(out, GemmFormat::bf16, {{m, 4096, 4096}});
  for (const int m : {1, 128}) add(out, GemmFormat::e4m3, {{m, 4096, 4096}});
  for (const int m : {8, 32, 128}) add(out, GemmFormat::bf16, {{m, 8192, 8192}});
  return out;
}

}  // namespace kvsim::kernels
