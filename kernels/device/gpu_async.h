#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/device/global.h"

// Asynchronous copies to shared memory; kv_device.h says what each promises.
namespace kvsim::kernels::gpu {

__device__ inline std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

template <class T>
__device__ inline void cp_async16(void* shared, Global<T> global, bool valid = true) {
  const std::uint32_t bytes = valid ? 16U : 0U;
  asm volatile(
      "cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(shared_address(shared)),
      "l"(global.address), "r"(bytes)
      : "memory");
}

__device__ inline void cp_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int N>
__device__ inline void cp_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

// An mbarrier is 8 bytes of shared memory. `arrivals` per phase; phases alternate parity 0, 1, 0...
__device__ inline void mbar_init(std::uint64_t* bar, unsigned arrivals) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(bar)), "r"(arrivals)
               : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#else
  __trap();
#endif
}

// Arrives once and makes the phase wait for `bytes` more.
__device__ inline void mbar_expect_tx(std::uint64_t* bar, unsigned bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)),
               "r"(bytes)
               : "memory");
#else
  __trap();
#endif
}

__device__ inline void mbar_arrive(std::uint64_t* bar) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(bar)) : "memory");
#else
  __trap();
#endif
}

// Returns once the phase of that parity is complete.
__device__ inline void mbar_wait(std::uint64_t* bar, unsigned parity) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra.uni over;\nbra.uni again;\nover:\n}" ::"r"(shared_address(bar)),
      "r"(parity)
      : "memory");
#else
  __trap();
#endif
}

// One thread copies `bytes` (a multiple of 16, both sides aligned to 16); `bar` hears of them.
template <class T>
__device__ inline void bulk_g2s(void* shared, Global<T> global, unsigned bytes,
                                std::uint64_t* bar) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(shared)),
      "l"(global.address), "r"(bytes), "r"(shared_address(bar))
      : "memory");
#else
  __trap();
#endif
}

}  // namespace kvsim::kernels::gpu
