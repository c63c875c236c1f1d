#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/simt/planted/lab.h"

// Collectives of warps and blocks whose results the tests compute another way.
namespace kvsim::kernels::KVSIM_BACKEND {

// Four shuffles of width `choice`: by index, xor, down, up.
inline void shuffles(const LabArgs args) {
  const unsigned i = threadIdx.x;
  const float v = load(args.in + i);
  const float a = __shfl_sync(0xffffffffU, v, static_cast<int>(3 * i + 1), args.choice);
  const float b = __shfl_xor_sync(0xffffffffU, v, 5, args.choice);
  const float c = __shfl_down_sync(0xffffffffU, v, 3, args.choice);
  const float d = __shfl_up_sync(0xffffffffU, v, 2, args.choice);
  store(args.out + 4 * i, a);
  store(args.out + 4 * i + 1, b);
  store(args.out + 4 * i + 2, c);
  store(args.out + 4 * i + 3, d);
}

// A 64-bit value keeps both halves.
inline void wide_shuffle(const LabArgs args) {
  const double v = 1.0 + 0x1p-40 * threadIdx.x;
  const double got = __shfl_xor_sync(0xffffffffU, v, 1);
  store(args.out + threadIdx.x, static_cast<float>((got - 1.0) * 0x1p40));
}

// Votes on bit `choice` of the lane's number.
inline void votes(const LabArgs args) {
  const bool bit = (threadIdx.x >> args.choice & 1U) != 0;
  const std::uint32_t ballot = __ballot_sync(0xffffffffU, bit);
  const bool any = __any_sync(0xffffffffU, bit && threadIdx.x > 31);
  const bool all = __all_sync(0xffffffffU, bit || args.choice > 5);
  store(args.out + 3 * threadIdx.x, __builtin_bit_cast(float, ballot));
  store(args.out + 3 * threadIdx.x + 1, any ? 1.0F : 0.0F);
  store(args.out + 3 * threadIdx.x + 2, all ? 1.0F : 0.0F);
}

// The lower half of each warp adds in four steps, the upper half takes the maximum, in other steps
// and twice, at other lines.
inline void half_warps(const LabArgs args) {
  float v = load(args.in + threadIdx.x);
  if (threadIdx.x % 32 < 16) {
    for (int step = 8; step > 0; step /= 2) v += __shfl_xor_sync(0x0000ffffU, v, step);
  } else {
    for (int twice = 0; twice < 2; ++twice)
      for (int step = 1; step < 16; step *= 2) {
        const float other = __shfl_xor_sync(0xffff0000U, v, step);
        v = other > v ? other : v;
      }
  }
  __syncwarp();
  store(args.out + 512 * blockIdx.x + threadIdx.x, v);
}

// A last warp of eight lanes takes part with the mask of a whole warp.
inline void short_warp(const LabArgs args) {
  float v = load(args.in + threadIdx.x);
  for (int step = 4; step > 0; step /= 2) v += __shfl_xor_sync(0xffffffffU, v, step);
  const std::uint32_t ballot = __ballot_sync(0xffffffffU, true);
  store(args.out + 2 * threadIdx.x, v);
  store(args.out + 2 * threadIdx.x + 1, static_cast<float>(__builtin_popcount(ballot)));
}

// Two pairs of warps, each with a barrier of its own, hand values on in rounds of their own number.
inline void named_barriers(const LabArgs args) {
  KVSIM_SHARED(shared);
  auto* slots = reinterpret_cast<float*>(shared);
  const unsigned pair = threadIdx.x / 64, rounds = pair == 0 ? 3 : 5;
  slots[threadIdx.x] = load(args.in + threadIdx.x);
  for (unsigned r = 0; r < rounds; ++r) {
    sync_threads(1 + pair, 64);
    const float other = slots[64 * pair + (threadIdx.x + 33) % 64];
    sync_threads(1 + pair, 64);
    slots[threadIdx.x] = other;
  }
  store(args.out + 512 * blockIdx.x + threadIdx.x, slots[threadIdx.x]);
}

// Counts, adds floats and takes a maximum from all blocks.
inline void atomics(const LabArgs args) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  atomic_add(args.counter, 1U);
  atomic_max(args.counter + 1, i);
  if (i == 0) store(args.out + 1, 0.0F);
  const unsigned ticket = atomic_add(args.counter + 2, 2U);
  store(args.out + 64 + i, static_cast<float>(ticket));
}

// Every block leaves a row; the block that comes last adds the rows up.
inline void last_block(const LabArgs args) {
  KVSIM_SHARED(shared);
  auto* last = reinterpret_cast<unsigned*>(shared);
  const Global<float> rows = args.out + 256;
  store(rows + blockIdx.x * blockDim.x + threadIdx.x,
        load(args.in + blockIdx.x) + static_cast<float>(threadIdx.x));
  __syncthreads();
  if (threadIdx.x == 0) *last = atomic_add(args.counter, 1U) + 1 == gridDim.x ? 1U : 0U;
  __syncthreads();
  if (*last == 0U) return;
  float sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += load(rows + b * blockDim.x + threadIdx.x);
  store(args.out + threadIdx.x, sum);
}

// Thread i of block b loads 16 bytes twice and stores 4.
inline void counted(const LabArgs args) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const Words4 first = load_stream(as<const Words4>(args.in) + i);
  const Words4 again = load(as<const Words4>(args.in) + i);
  store(args.out + i, __builtin_bit_cast(float, first.word[0] + again.word[0] * 0U));
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
