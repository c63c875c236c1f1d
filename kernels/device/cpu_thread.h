#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/simt/collectives.h"
#include "kernels/simt/lane.h"
#include "kernels/simt/warp_ops.h"

// CUDA's own words for the executor. The names are CUDA's, so that kernel text stays CUDA; only
// .cuh files and the files that instantiate them include this.
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define threadIdx (::kvsim::simt::current->thread_idx)
#define blockIdx (::kvsim::simt::current->block_idx)
#define blockDim (::kvsim::simt::current->block_dim)
#define gridDim (::kvsim::simt::current->grid_dim)
#define KVSIM_SHARED(name) unsigned char* const name = ::kvsim::simt::current->shared

namespace kvsim::kernels::cpu {

inline void __syncthreads(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  simt::block_barrier({file, line});
}

// bar.sync id, threads
inline void sync_threads(unsigned id, unsigned threads, const char* file = __builtin_FILE(),
                         int line = __builtin_LINE()) {
  simt::named_barrier(id, threads, {file, line});
}

inline void __syncwarp(std::uint32_t mask = 0xffffffffU, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) {
  simt::warp_barrier(mask, {file, line});
}

template <class T>
T shuffle_from(std::uint32_t mask, T value, unsigned source, simt::Site site) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const std::uint64_t out = simt::shuffle(mask, std::bit_cast<Bits>(value), source, site);
  return std::bit_cast<T>(static_cast<Bits>(out));
}

template <class T>
T __shfl_sync(std::uint32_t mask, T value, int source, int width = 32,
              const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const unsigned lane = simt::current->index % 32, w = static_cast<unsigned>(width);
  const unsigned from = (lane & ~(w - 1U)) | (static_cast<unsigned>(source) & (w - 1U));
  return shuffle_from(mask, value, from, {file, line});
}

template <class T>
T __shfl_xor_sync(std::uint32_t mask, T value, int lanes, int width = 32,
                  const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const unsigned lane = simt::current->index % 32, w = static_cast<unsigned>(width);
  const unsigned from = lane ^ static_cast<unsigned>(lanes);
  return shuffle_from(mask, value, (from & ~(w - 1U)) == (lane & ~(w - 1U)) ? from : lane,
                      {file, line});
}

template <class T>
T __shfl_down_sync(std::uint32_t mask, T value, unsigned lanes, int width = 32,
                   const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const unsigned lane = simt::current->index % 32, w = static_cast<unsigned>(width);
  const bool inside = (lane & (w - 1U)) + lanes < w;
  return shuffle_from(mask, value, inside ? lane + lanes : lane, {file, line});
}

template <class T>
T __shfl_up_sync(std::uint32_t mask, T value, unsigned lanes, int width = 32,
                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const unsigned lane = simt::current->index % 32, w = static_cast<unsigned>(width);
  const bool inside = (lane & (w - 1U)) >= lanes;
  return shuffle_from(mask, value, inside ? lane - lanes : lane, {file, line});
}

inline std::uint32_t __ballot_sync(std::uint32_t mask, bool predicate,
                                   const char* file = __builtin_FILE(),
                                   int line = __builtin_LINE()) {
  return simt::ballot(mask, predicate, {file, line});
}
inline bool __any_sync(std::uint32_t mask, bool predicate, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) {
  return simt::ballot(mask, predicate, {file, line}) != 0;
}
inline bool __all_sync(std::uint32_t mask, bool predicate, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) {
  return simt::ballot(mask, !predicate, {file, line}) == 0;
}

}  // namespace kvsim::kernels::cpu
