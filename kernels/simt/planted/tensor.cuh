#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/simt/planted/lab.h"

// Tensor core operations on registers that the test fills, and bulk copies through a ring.
namespace kvsim::kernels::KVSIM_BACKEND {

enum class Product { bf16, f16, e4m3 };

// Lane i: six input words at 6 i, four sums at 4 i of the row after all words.
template <Product product>
void products(const LabArgs args) {
  const unsigned i = threadIdx.x;
  std::uint32_t a[4], b[2];
  float d[4];
  for (unsigned r = 0; r < 4; ++r)
    a[r] = __builtin_bit_cast(std::uint32_t, load(args.in + 6 * i + r));
  for (unsigned r = 0; r < 2; ++r)
    b[r] = __builtin_bit_cast(std::uint32_t, load(args.in + 6 * i + 4 + r));
  for (unsigned r = 0; r < 4; ++r) d[r] = load(args.in + 192 + 4 * i + r);
  if (product == Product::bf16) mma_bf16_16816(d, a, b[0], b[1]);
  if (product == Product::f16) mma_f16_16816(d, a, b[0], b[1]);
  if (product == Product::e4m3) mma_e4m3_16832(d, a, b[0], b[1]);
  for (unsigned r = 0; r < 4; ++r) store(args.out + 4 * i + r, d[r]);
}

// Shared memory holds the halves 0, 1, 2, ...; lane i names row (7 i + 3) % 32 of 16 bytes.
// `choice` 1: transposed as they are loaded, 2: afterwards.
inline void matrix_loads(const LabArgs args) {
  KVSIM_SHARED(shared);
  for (unsigned h = threadIdx.x; h < 256; h += 32)
    reinterpret_cast<std::uint16_t*>(shared)[h] = static_cast<std::uint16_t>(h);
  __syncwarp();
  const unsigned char* row = shared + 16 * ((7 * threadIdx.x + 3) % 32);
  std::uint32_t words[4];
  if (args.choice == 1)
    ldsm4_trans(words, row);
  else
    ldsm4(words, row);
  if (args.choice == 2)
    for (unsigned r = 0; r < 4; ++r) words[r] = movmatrix_trans(words[r]);
  for (unsigned r = 0; r < 4; ++r)
    store(args.out + 512 * blockIdx.x + 4 * threadIdx.x + r, __builtin_bit_cast(float, words[r]));
}

constexpr unsigned planted_ring_stages = 3, ring_tiles = 11, ring_floats = 64;

// Warp 0 fills a ring by bulk copies, one lane for all; warps 1 and 2 read every tile and say so.
// `choice` 1: the bytes are announced after the copy has been issued.
inline void bulk_pipeline(const LabArgs args) {
  KVSIM_SHARED(shared);
  auto* tiles = reinterpret_cast<float*>(shared);
  auto* full = reinterpret_cast<std::uint64_t*>(shared + planted_ring_stages * ring_floats * 4);
  auto* empty = full + planted_ring_stages;
  if (threadIdx.x == 0)
    for (unsigned s = 0; s < planted_ring_stages; ++s) {
      mbar_init(full + s, 1);
      mbar_init(empty + s, 64);
    }
  __syncthreads();
  float sum = 0;
  for (unsigned t = 0; t < ring_tiles; ++t) {
    const unsigned stage = t % planted_ring_stages, round = t / planted_ring_stages;
    if (threadIdx.x == 0) {
      if (round > 0) mbar_wait(empty + stage, (round - 1) % 2);
      if (args.choice == 0) mbar_expect_tx(full + stage, ring_floats * 4);
      bulk_g2s(tiles + stage * ring_floats, args.in + t * ring_floats, ring_floats * 4,
               full + stage);
      if (args.choice == 1) mbar_expect_tx(full + stage, ring_floats * 4);
    } else if (threadIdx.x >= 32) {
      mbar_wait(full + stage, round % 2);
      sum = 2 * sum + tiles[stage * ring_floats + threadIdx.x - 32];
      mbar_arrive(empty + stage);
    }
  }
  if (threadIdx.x >= 32) store(args.out + 512 * blockIdx.x + (threadIdx.x - 32), sum);
}

// A ring of three stages that each warp fills for itself by cp.async, one group per tile.
inline void copy_ring(const LabArgs args) {
  KVSIM_SHARED(shared);
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  auto* ring = reinterpret_cast<float*>(shared) + warp * planted_ring_stages * 128;
  const auto issue = [&](unsigned t) {
    const bool valid = t < ring_tiles;
    cp_async16(ring + t % planted_ring_stages * 128 + 4 * lane,
               args.in + (valid ? 128 * t + 4 * lane : 0), valid);
    cp_commit();
  };
  for (unsigned t = 0; t + 1 < planted_ring_stages; ++t) issue(t);
  float sum = 0;
  for (unsigned t = 0; t < ring_tiles; ++t) {
    issue(t + planted_ring_stages - 1);
    cp_wait<planted_ring_stages - 1>();
    __syncwarp();
    sum = 2 * sum + ring[t % planted_ring_stages * 128 + 4 * ((lane + 1) % 32) + 1];
    __syncwarp();
  }
  store(args.out + 512 * blockIdx.x + threadIdx.x, sum);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
