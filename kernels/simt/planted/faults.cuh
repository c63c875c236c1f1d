#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/simt/planted/lab.h"

// One mistake per kernel, which the executor must report with threads and line, or answer with the
// poison of memory that nobody wrote.
namespace kvsim::kernels::KVSIM_BACKEND {

// Notes the line of its caller.
inline void at(const LabArgs& args, int index, int line = __builtin_LINE()) {
  store(args.lines + index, line);
}

inline void divergent_barrier(const LabArgs args) {
  if (threadIdx.x < 64)
    at(args, 0), __syncthreads();
  else
    at(args, 1), __syncthreads();
}

inline void trip_counts(const LabArgs args) {
  const int trips = threadIdx.x == 0 ? 1 : 2;
  for (int i = 0; i < trips; ++i) at(args, 0), __syncthreads();
}

inline void early_exit(const LabArgs args) {
  if (static_cast<int>(threadIdx.x) == args.choice) return;
  at(args, 0), __syncthreads();
}

inline void shuffle_without_lane(const LabArgs args) {
  if (threadIdx.x == 7) return;
  at(args, 0), __shfl_xor_sync(0xffffffffU, 1, 1);
}

inline void shuffle_at_two_places(const LabArgs args) {
  if (threadIdx.x < 16)
    at(args, 0), __shfl_xor_sync(0xffffffffU, 1, 1);
  else
    at(args, 1), __shfl_xor_sync(0xffffffffU, 1, 1);
}

inline void shuffle_from_outside(const LabArgs args) {
  if (threadIdx.x < 16) at(args, 0), __shfl_sync(0x0000ffffU, 1, 20);
}

inline void shuffle_past_short_warp(const LabArgs args) {
  at(args, 0), __shfl_sync(0xffffffffU, 1, 20);
}

inline void mask_without_caller(const LabArgs args) { at(args, 0), __syncwarp(0x0000ffffU); }

inline void block_barrier_against_warp(const LabArgs args) {
  if (threadIdx.x == 3)
    at(args, 0), __syncwarp();
  else
    at(args, 1), __syncthreads();
}

inline void barrier_counts(const LabArgs args) {
  at(args, 0), sync_threads(1, threadIdx.x < 32 ? 64 : 128);
}

inline void barrier_id(const LabArgs args) {
  sync_threads(static_cast<unsigned>(args.choice), blockDim.x);
}

inline void barrier_without_warp(const LabArgs args) {
  if (threadIdx.x < 32) at(args, 0), sync_threads(2, 64);
}

inline void load_outside(const LabArgs args) { at(args, 0), load(args.in + args.choice); }

inline void store_outside(const LabArgs args) { at(args, 0), store(args.out + args.choice, 1.0F); }

inline void copy_outside_shared(const LabArgs args) {
  KVSIM_SHARED(shared);
  at(args, 0), cp_async16(shared + 16 * args.choice, args.in);
}

inline void copy_misaligned(const LabArgs args) {
  KVSIM_SHARED(shared);
  at(args, 0), cp_async16(shared, args.in + args.choice);
}

inline void ldmatrix_misaligned(const LabArgs args) {
  KVSIM_SHARED(shared);
  std::uint32_t words[4];
  at(args, 0), ldsm4(words, shared + 8);
}

// Reads after waiting for all but `choice` of two groups; without a wait where it is negative.
inline void copy_read_early(const LabArgs args) {
  KVSIM_SHARED(shared);
  auto* row = reinterpret_cast<float*>(shared) + 8 * threadIdx.x;
  cp_async16(row, args.in + 8 * threadIdx.x);
  cp_commit();
  cp_async16(row + 4, args.in + 8 * threadIdx.x + 4);
  cp_commit();
  if (args.choice == 0) cp_wait<0>();
  if (args.choice == 1) cp_wait<1>();
  for (unsigned i = 0; i < 8; ++i) store(args.out + 8 * threadIdx.x + i, row[i]);
}

inline void unwritten_shared(const LabArgs args) {
  KVSIM_SHARED(shared);
  const auto* words = reinterpret_cast<const float*>(shared);
  store(args.out + threadIdx.x, words[threadIdx.x]);
}

inline void bulk_misaligned(const LabArgs args) {
  KVSIM_SHARED(shared);
  auto* bar = reinterpret_cast<std::uint64_t*>(shared);
  mbar_init(bar, 1);
  const unsigned bytes = args.choice == 2 ? 24 : 32;
  at(args, 0), bulk_g2s(shared + 16 + (args.choice == 1 ? 8 : 0),
                        args.in + (args.choice == 0 ? 1 : 0), bytes, bar);
}

inline void mbarrier_unset(const LabArgs args) {
  KVSIM_SHARED(shared);
  at(args, 0), mbar_arrive(reinterpret_cast<std::uint64_t*>(shared));
}

inline void mbarrier_arrivals(const LabArgs args) {
  KVSIM_SHARED(shared);
  auto* bar = reinterpret_cast<std::uint64_t*>(shared);
  if (threadIdx.x == 0) {
    mbar_init(bar, 1);
    mbar_expect_tx(bar, 16);
    at(args, 0), mbar_arrive(bar);
  }
}

inline void mbarrier_never(const LabArgs args) {
  KVSIM_SHARED(shared);
  auto* bar = reinterpret_cast<std::uint64_t*>(shared);
  if (threadIdx.x == 0) mbar_init(bar, 1);
  __syncthreads();
  at(args, 0), mbar_wait(bar, 0);
}

inline void bulk_read_early(const LabArgs args) {
  KVSIM_SHARED(shared);
  auto* bar = reinterpret_cast<std::uint64_t*>(shared + 128);
  if (threadIdx.x == 0) {
    mbar_init(bar, 1);
    mbar_expect_tx(bar, 128);
    bulk_g2s(shared, args.in, 128, bar);
  }
  __syncthreads();
  if (args.choice == 1) mbar_wait(bar, 0);
  store(args.out + threadIdx.x, reinterpret_cast<const float*>(shared)[threadIdx.x]);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
