#pragma once
#include <cstddef>

// The executor is built without instrumentation and tells the sanitizers, where the program has
// them, what it does on behalf of the lanes. Without a sanitizer the weak functions are null.
extern "C" {
[[gnu::weak]] void* __tsan_get_current_fiber();
[[gnu::weak]] void* __tsan_create_fiber(unsigned flags);
[[gnu::weak]] void __tsan_set_fiber_name(void* fiber, const char* name);
[[gnu::weak]] void __tsan_switch_to_fiber(void* fiber, unsigned flags);
[[gnu::weak]] void __tsan_func_entry(void* caller);
[[gnu::weak]] void __tsan_func_exit();
[[gnu::weak]] void __tsan_acquire(void* key);
[[gnu::weak]] void __tsan_release(void* key);
[[gnu::weak]] void __tsan_read2(void* address);
[[gnu::weak]] void __tsan_read4(void* address);
[[gnu::weak]] void __tsan_read8(void* address);
[[gnu::weak]] void __tsan_read16(void* address);
[[gnu::weak]] void __tsan_write8(void* address);
[[gnu::weak]] void __tsan_write16(void* address);
[[gnu::weak]] void __asan_loadN(void const volatile* address, std::size_t bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(void const volatile* address, std::size_t bytes);
}

namespace kvsim::simt::sanitizers {

inline bool thread_sanitizer() { return &__tsan_switch_to_fiber != nullptr; }

inline void acquire(void* key) {
  if (&__tsan_acquire != nullptr) __tsan_acquire(key);
}
inline void release(void* key) {
  if (&__tsan_release != nullptr) __tsan_release(key);
}
inline void note_read16(const void* address) {
  if (&__tsan_read16 != nullptr) __tsan_read16(const_cast<void*>(address));
}
inline void note_write16(void* address) {
  if (&__tsan_write16 != nullptr) __tsan_write16(address);
}
inline void note_read2(const void* address) {
  if (&__tsan_read2 != nullptr) __tsan_read2(const_cast<void*>(address));
}
inline void note_read4(const void* address) {
  if (&__tsan_read4 != nullptr) __tsan_read4(const_cast<void*>(address));
}
inline void note_read8(void* address) {
  if (&__tsan_read8 != nullptr) __tsan_read8(address);
}
inline void note_write8(void* address) {
  if (&__tsan_write8 != nullptr) __tsan_write8(address);
}
// AddressSanitizer reports and ends the program where not all bytes may be read.
inline void check_read(const void* address, std::size_t bytes) {
  if (&__asan_loadN != nullptr) __asan_loadN(address, bytes);
}
// 1 = the switch itself orders nothing.
inline void switch_to(void* fiber) {
  if (&__tsan_switch_to_fiber != nullptr) __tsan_switch_to_fiber(fiber, 1);
}
// While it lives, accesses are reported as made at `caller`, a return address in the kernel's code:
// functions of the executor leave no frame of their own.
class Frame {
 public:
  explicit Frame(void* caller) {
    if (&__tsan_func_entry != nullptr) __tsan_func_entry(caller);
  }
  ~Frame() {
    if (&__tsan_func_exit != nullptr) __tsan_func_exit();
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
};

// Creating a fiber costs milliseconds under ThreadSanitizer, so what a runner returns is kept for
// the next one. Whoever waited for the launch has seen all that a returned fiber did: its past
// hides no race of its next life.
// `name` is shown in reports.
void* borrow_fiber(const char* name);
void return_fiber(void* fiber);

// A stack whose frames were abandoned keeps their red zones.
inline void forget_frames(void* stack, std::size_t bytes) {
  if (&__asan_unpoison_memory_region != nullptr) __asan_unpoison_memory_region(stack, bytes);
}

}  // namespace kvsim::simt::sanitizers
