#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/simt/planted/races.h"

// Kernels with one missing ordering each. Their results under the executor are mostly right: only
// ThreadSanitizer sees the mistake.
namespace kvsim::kernels::KVSIM_BACKEND {

// Four warps leave a partial sum each, thread 0 adds them up.
template <Twin twin>
__global__ void shared_merge(const RaceArgs args) {
  KVSIM_SHARED(shared);
  auto* partial = reinterpret_cast<float*>(shared);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = load(args.in + threadIdx.x);
  if (twin == Twin::corrected) __syncthreads();
  if (threadIdx.x == 0) store(args.out, partial[0] + partial[1] + partial[2] + partial[3]);
}

// Each lane copies a row; ldmatrix hands each lane words of other lanes' rows.
template <Twin twin>
__global__ void copy_to_ldmatrix(const RaceArgs args) {
  KVSIM_SHARED(shared);
  cp_async16(shared + 16 * threadIdx.x, args.in + 4 * threadIdx.x);
  cp_commit();
  cp_wait<0>();
  if (twin == Twin::corrected) __syncwarp();
  std::uint32_t words[4];
  ldsm4(words, shared + 16 * threadIdx.x);
  store(args.out + threadIdx.x, __builtin_bit_cast(float, words[0]));
}

// A ring that cp.async filled is read across warps and then reused for the merge.
template <Twin twin>
__global__ void ring_reuse(const RaceArgs args) {
  KVSIM_SHARED(shared);
  auto* ring = reinterpret_cast<float*>(shared);
  cp_async16(ring + 4 * threadIdx.x, args.in + 4 * threadIdx.x);
  cp_commit();
  cp_wait<0>();
  __syncthreads();
  const unsigned other = (threadIdx.x + 32) % blockDim.x;
  const float sum = ring[4 * other] + ring[4 * other + 1];
  if (twin == Twin::corrected) __syncthreads();
  ring[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x < 32) store(args.out + threadIdx.x, ring[threadIdx.x] + ring[threadIdx.x + 32]);
}

// Two blocks and one row of output.
template <Twin twin>
__global__ void shared_row(const RaceArgs args) {
  const unsigned row = twin == Twin::corrected ? blockIdx.x : 0;
  store(args.out + row * blockDim.x + threadIdx.x, load(args.in + threadIdx.x));
}

// The last block to arrive adds up what all blocks left.
template <Twin twin>
__global__ void last_block_merge(const RaceArgs args) {
  KVSIM_SHARED(shared);
  auto* last = reinterpret_cast<unsigned*>(shared);
  store(args.partial + blockIdx.x * blockDim.x + threadIdx.x, load(args.in + threadIdx.x));
  if (twin == Twin::corrected) __syncthreads();
  if (threadIdx.x == 0) *last = atomic_add(args.counter, 1U) + 1 == gridDim.x ? 1U : 0U;
  __syncthreads();
  if (*last == 0U) return;
  float sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b)
    sum += load(args.partial + b * blockDim.x + (threadIdx.x + 1) % blockDim.x);
  store(args.out + threadIdx.x, sum);
}

// A bulk copy for whose arrival one lane waits and the others do not.
template <Twin twin>
__global__ void bulk_without_wait(const RaceArgs args) {
  KVSIM_SHARED(shared);
  auto* bar = reinterpret_cast<std::uint64_t*>(shared + 1024);
  if (threadIdx.x == 0) mbar_init(bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    mbar_expect_tx(bar, 128);
    bulk_g2s(shared, args.in, 128, bar);
  }
  if (twin == Twin::corrected || threadIdx.x == 0) mbar_wait(bar, 0);
  store(args.out + threadIdx.x, reinterpret_cast<const float*>(shared)[threadIdx.x]);
}

// The consumer reads a stage that the producer refills without having heard that it is free.
template <Twin twin>
__global__ void bulk_refill(const RaceArgs args) {
  KVSIM_SHARED(shared);
  auto* full = reinterpret_cast<std::uint64_t*>(shared + 1024);
  auto* empty = full + 1;
  if (threadIdx.x == 0) {
    mbar_init(full, 1);
    mbar_init(empty, 31);
  }
  __syncthreads();
  float sum = 0;
  for (unsigned i = 0; i < 2; ++i) {
    if (threadIdx.x == 0) {
      if (twin == Twin::corrected && i > 0) mbar_wait(empty, 0);
      if (twin == Twin::planted && i > 0) mbar_wait(full, 0);
      mbar_expect_tx(full, 128);
      bulk_g2s(shared, args.in + 32 * i, 128, full);
    } else {
      mbar_wait(full, i % 2);
      sum += reinterpret_cast<const float*>(shared)[threadIdx.x];
      if (i == 0) mbar_arrive(empty);
    }
  }
  store(args.out + threadIdx.x, sum);
}

// One element beyond the block's shared memory.
template <Twin twin>
__global__ void shared_overrun(const RaceArgs args) {
  KVSIM_SHARED(shared);
  auto* words = reinterpret_cast<float*>(shared);
  words[threadIdx.x + (twin == Twin::planted ? 1 : 0)] = 1;
  __syncthreads();
  store(args.out + threadIdx.x, words[threadIdx.x]);
}

// One element beyond a buffer.
template <Twin twin>
__global__ void global_overrun(const RaceArgs args) {
  store(args.out + threadIdx.x, load(args.in + threadIdx.x + (twin == Twin::planted ? 1 : 0)));
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
