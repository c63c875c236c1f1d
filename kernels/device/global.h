#pragma once
#include <cstdint>
#include <type_traits>

#include "kernels/numbers/portable.h"

namespace kvsim::kernels {

// A pointer to GPU memory. It has no * and no []: kernels read and write through load(), store(),
// the copies and the atomics of kv_device.h, so that the executor can count every byte and check
// every address. On the GPU it is a plain pointer.
template <class T>
struct Global {
  T* address = nullptr;

  KVSIM_FN Global operator+(std::int64_t elements) const { return {address + elements}; }
  template <class U = T>
  requires(!std::is_const_v<U>) KVSIM_FN operator Global<const U>() const { return {address}; }
  KVSIM_FN explicit operator bool() const { return address != nullptr; }
};

// The same address as elements of another type; `p` must be aligned for it.
template <class To, class From>
KVSIM_FN Global<To> as(Global<From> p) {
  return {reinterpret_cast<To*>(p.address)};
}

// 16 bytes, the widest load of one thread.
struct alignas(16) Words4 {
  std::uint32_t word[4];
};

struct alignas(8) Words2 {
  std::uint32_t word[2];
};

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

// Where work is queued: a cudaStream_t, or the executor of the CPU backend.
struct Stream {
  void* handle = nullptr;
};

}  // namespace kvsim::kernels
