#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "cost/operators/gemm_tiles.h"

using namespace kvsim::cost;

namespace {

Gemm product(double m, double n, double k) { return {m, n, k, *find_format("fp8_block")}; }

Device gpu(double sms) {
  Device d;
  d.sms = sms;
  return d;
}

// DeepGEMM on Hopper as it states its choice: all layouts, the total cycles of the device, the
// first of the least.
Tile slow_hopper(long m, long n, long k, long sms) {
  const auto up = [](long a, long b) { return (a + b - 1) / b; };
  std::vector<long> heights{64, 128};
  if (m <= 16) heights.push_back(16);
  if (m <= 32) heights.push_back(32);
  heights.push_back(256);
  double least = 1e300;
  Tile out;
  for (const auto& [rows_of, columns_of] :
       std::vector<std::pair<long, long>>{{1, 1}, {1, 2}, {2, 1}})
    for (const long tm : heights)
      for (long tn = 16; tn <= 192; tn += 16) {
        if (tn == 176 || (tm > 128 && tn > 128)) continue;
        const long blocks = up(m, tm) * up(n, tn), waves = up(blocks, sms);
        if (rows_of * columns_of > 1 && waves == 1) continue;
        const double through_l2 =
            static_cast<double>(k * (tm / columns_of + tn / rows_of) + 2 * tm * tn);
        const double through_l1 = static_cast<double>(k * (tm + tn) + k * (std::max(64L, tm) + tn) +
                                                      2 * tm * tn + 2 * tm * tn);
        const double busy = static_cast<double>(blocks) / static_cast<double>(waves * sms);
        const double cycles =
            static_cast<double>(blocks) *
            std::max(through_l1 / static_cast<double>(128 * sms), through_l2 / 6153) / busy;
        if (cycles >= least * (1 - 1e-12)) continue;
        least = cycles;
        out = tile(static_cast<double>(tm), static_cast<double>(tn));
        out.loaded = static_cast<double>(tm / columns_of + tn / rows_of);
      }
  return out;
}

}  // namespace

TEST_CASE("the tile that DeepGEMM expects to be fastest is found without listing all layouts") {
  for (const long m : {1L, 16L, 24L, 33L, 128L, 512L, 768L, 1280L, 2049L, 16384L})
    for (const long n : {128L, 768L, 2048L, 5120L, 7168L, 24576L})
      for (const long k : {512L, 2048L, 7168L, 51200L}) {
        const Tile fast = deepgemm_hopper(
            product(static_cast<double>(m), static_cast<double>(n), static_cast<double>(k)),
            gpu(132));
        const Tile slow = slow_hopper(m, n, k, 132);
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(k);
        CHECK(std::tuple(fast.m, fast.n, fast.loaded) == std::tuple(slow.m, slow.n, slow.loaded));
      }
}

TEST_CASE("one wave of the widest tiles spills registers on Hopper") {
  // 4 x 32 and 8 x 16 tiles on 132 SMs; measured 2.4 times slower than their neighbours.
  const Tile wide = deepgemm_hopper(product(512, 6144, 2048), gpu(132));
  CHECK(std::tuple(wide.m, wide.n, wide.crowded) == std::tuple(128.0, 192.0, true));
  const Tile tall = deepgemm_hopper(product(2048, 2048, 8192), gpu(132));
  CHECK(std::tuple(tall.m, tall.n, tall.crowded) == std::tuple(256.0, 128.0, true));
  CHECK_FALSE(deepgemm_hopper(product(4096, 8192, 8192), gpu(132)).crowded);
  CHECK_FALSE(deepgemm_hopper(product(64, 4096, 4096), gpu(132)).crowded);
}

TEST_CASE("a tile with two scales is one whose columns straddle blocks of 128") {
  for (const double n : {1536.0, 2560.0, 4096.0, 6144.0, 12288.0})
    for (const double m : {1.0, 48.0, 256.0, 1024.0}) {
      const Tile t = deepgemm_hopper(product(m, n, 4096), gpu(132));
      const bool divides = t.n == 192 || std::fmod(128, t.n) == 0;
      CHECK(t.uneven == !divides);
    }
}

TEST_CASE("on Blackwell DeepGEMM takes a single wave where there is one") {
  for (const double m : {1.0, 32.0, 64.0, 128.0, 256.0, 1024.0})
    for (const double n : {512.0, 2048.0, 7168.0, 18432.0}) {
      const Tile t = deepgemm_blackwell(product(m, n, 4096), gpu(148));
      const double largest = std::ceil(m / (m <= 32   ? 32
                                            : m <= 64 ? 64
                                                      : 128)) *
                             std::ceil(n / 256);
      const double swapped = std::ceil(m / 256) * std::ceil(n / 128);
      if (std::min(largest, swapped) <= 148) CHECK(std::ceil(m / t.m) * std::ceil(n / t.n) <= 148);
      CHECK(t.loaded <= t.m + t.n);
      CHECK(t.loaded >= (t.m + t.n) / 2);
    }
}

TEST_CASE("tiles of the CUTLASS rules grow with the rows and cover every shape") {
  using Rule = Tile (*)(const Gemm&, const Device&);
  for (const Rule rule :
       {Rule{cutlass_ada_fp8}, Rule{cutlass_hopper_fp8}, Rule{cutlass_hopper_fp8_swapped},
        Rule{cutlass_blackwell_fp8}, Rule{cutlass_rtx_fp8}, Rule{cutlass_rtx_fp4}})
    for (const double n : {256.0, 1280.0, 8192.0, 16384.0, 51200.0}) {
      double last = 0;
      for (const double m : {1.0, 16.0, 17.0, 32.0, 64.0, 65.0, 128.0, 256.0, 257.0, 8192.0, 1e6}) {
        const Tile t = rule(product(m, n, 8192), gpu(148));
        CHECK(t.m >= last);
        CHECK(t.m >= std::min(m, 16.0));
        CHECK(t.loaded == t.m + t.n);
        CHECK(std::fmod(t.n, 32) == 0);
        last = t.m;
      }
    }
  CHECK(cutlass_ada_fp8(product(300, 6144, 4096), gpu(142)).m == 256);
  CHECK(cutlass_ada_fp8(product(300, 8193, 4096), gpu(142)).m == 128);
  CHECK(cutlass_hopper_fp8_swapped(product(8192, 4096, 6144), gpu(132)).m == 256);
  CHECK(cutlass_hopper_fp8_swapped(product(8192, 4096, 6143), gpu(132)).m == 128);
}
