#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "kernels/device/global.h"
#include "kernels/numbers/numbers.h"

#define KVSIM_SHARED(name) extern __shared__ __align__(128) unsigned char name[]

// Global memory and arithmetic on the GPU; kv_device.h says what each function promises.
namespace kvsim::kernels::gpu {

template <class T>
__device__ inline std::remove_const_t<T> load(Global<T> p) {
  return *p.address;
}

template <class T>
__device__ inline void store(Global<T> p, std::type_identity_t<T> value) {
  *p.address = value;
}

template <class T>
__device__ inline Words4 load_stream(Global<T> p) {
  static_assert(std::is_same_v<std::remove_const_t<T>, Words4>);
  Words4 out;
  asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(out.word[0]), "=r"(out.word[1]), "=r"(out.word[2]), "=r"(out.word[3])
               : "l"(p.address));
  return out;
}

template <class T>
__device__ inline void prefetch_l2(Global<T> p) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p.address));
}

template <class T>
__device__ inline void prefetch_l2_bulk(Global<T> p, unsigned bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(p.address), "r"(bytes));
#else
  __trap();
#endif
}

// The fences on both sides make the operation an acquire and a release for the whole block that
// joins it by barriers.
template <class T>
__device__ inline T atomic_add(Global<T> p, std::type_identity_t<T> value) {
  __threadfence();
  const T old = atomicAdd(p.address, value);
  __threadfence();
  return old;
}

template <class T>
__device__ inline T atomic_max(Global<T> p, std::type_identity_t<T> value) {
  __threadfence();
  const T old = atomicMax(p.address, value);
  __threadfence();
  return old;
}

// bar.sync id, threads
__device__ inline void sync_threads(unsigned id, unsigned threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

__device__ inline unsigned opaque(unsigned x) {
  asm volatile("" : "+r"(x));
  return x;
}

__device__ inline float ex2(float x) {
  float out;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
  return out;
}

__device__ inline std::uint32_t pack_bf16(float lo, float hi) {
  std::uint32_t out;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(hi), "f"(lo));
  return out;
}

__device__ inline std::uint32_t pack_f16(float lo, float hi) {
  std::uint32_t out;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(hi), "f"(lo));
  return out;
}

__device__ inline std::uint32_t unpack_e4m3x2(std::uint16_t two) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  std::uint32_t out;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(out) : "h"(two));
  return out;
#else
  // Sign, exponent and mantissa moved to their places in f16 give the value times 2^-8.
  const std::uint32_t spread = (two & 0xffU) | ((two & 0xff00U) << 8);
  const std::uint32_t half = ((spread & 0x00800080U) << 8) | ((spread & 0x007f007fU) << 7);
  std::uint32_t out;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(out) : "r"(half), "r"(0x5c005c00U));
  return out;
#endif
}

__device__ inline std::uint16_t pack_e4m3x2(float lo, float hi) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  std::uint16_t out;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(out) : "f"(hi), "f"(lo));
  return out;
#else
  return static_cast<std::uint16_t>(to_e4m3(lo).bits | to_e4m3(hi).bits << 8);
#endif
}

__device__ inline std::uint32_t fma_f16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t out;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(out) : "r"(a), "r"(b), "r"(c));
  return out;
}

__device__ inline std::uint32_t byte_perm(std::uint32_t a, std::uint32_t b,
                                          std::uint32_t selector) {
  return __byte_perm(a, b, selector);
}

__device__ inline int round_to_int(float x) { return __float2int_rn(x); }

}  // namespace kvsim::kernels::gpu
