#pragma once
#include <cstdint>

#include "kernels/device/global.h"
#include "kernels/simt/async.h"

// Asynchronous copies under the executor.
namespace kvsim::kernels::cpu {

template <class T>
void cp_async16(void* shared, Global<T> global, bool valid = true,
                const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  simt::async_copy16(shared, global.address, valid, {file, line});
}
inline void cp_commit() { simt::async_commit(); }
template <int N>
void cp_wait() {
  simt::async_wait(N);
}

inline void mbar_init(std::uint64_t* bar, unsigned arrivals, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE()) {
  simt::mbar_init(bar, arrivals, {file, line});
}
inline void mbar_expect_tx(std::uint64_t* bar, unsigned bytes, const char* file = __builtin_FILE(),
                           int line = __builtin_LINE()) {
  simt::mbar_arrive(bar, bytes, {file, line});
}
inline void mbar_arrive(std::uint64_t* bar, const char* file = __builtin_FILE(),
                        int line = __builtin_LINE()) {
  simt::mbar_arrive(bar, 0, {file, line});
}
inline void mbar_wait(std::uint64_t* bar, unsigned parity, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE()) {
  simt::mbar_wait(bar, parity, {file, line});
}
// Inlined, so that a report about the copy finds the kernel's line behind the call.
template <class T>
[[gnu::always_inline]] inline void bulk_g2s(void* shared, Global<T> global, unsigned bytes,
                                            std::uint64_t* bar, const char* file = __builtin_FILE(),
                                            int line = __builtin_LINE()) {
  simt::bulk_copy(shared, global.address, bytes, bar, {file, line});
}

}  // namespace kvsim::kernels::cpu
