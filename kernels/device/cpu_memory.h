#pragma once
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/device/global.h"
#include "kernels/numbers/numbers.h"
#include "kernels/simt/accounting.h"
#include "kernels/simt/lane.h"

// Global memory and arithmetic under the executor; kv_device.h says what each function promises.
namespace kvsim::kernels::cpu {

inline void note_read(const void* address, std::size_t bytes, simt::Site site) {
  if (auto* accounting = simt::current->accounting; accounting != nullptr)
    accounting->read(address, bytes, site);
}
inline void note_write(const void* address, std::size_t bytes, simt::Site site) {
  if (auto* accounting = simt::current->accounting; accounting != nullptr)
    accounting->write(address, bytes, site);
}

template <class T>
std::remove_const_t<T> load(Global<T> p, const char* file = __builtin_FILE(),
                            int line = __builtin_LINE()) {
  note_read(p.address, sizeof(T), {file, line});
  return *p.address;
}

template <class T>
void store(Global<T> p, std::type_identity_t<T> value, const char* file = __builtin_FILE(),
           int line = __builtin_LINE()) {
  note_write(p.address, sizeof(T), {file, line});
  *p.address = value;
}

template <class T>
Words4 load_stream(Global<T> p, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  static_assert(std::is_same_v<std::remove_const_t<T>, Words4>);
  return load(p, file, line);
}

template <class T>
void prefetch_l2(Global<T> p, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (auto* accounting = simt::current->accounting; accounting != nullptr)
    accounting->prefetch(p.address, {file, line});
}
template <class T>
void prefetch_l2_bulk(Global<T> p, unsigned bytes, const char* file = __builtin_FILE(),
                      int line = __builtin_LINE()) {
  for (unsigned at = 0; at < bytes; at += 128)
    prefetch_l2(as<const std::uint8_t>(p) + at, file, line);
}

template <class T>
T atomic_add(Global<T> p, std::type_identity_t<T> value, const char* file = __builtin_FILE(),
             int line = __builtin_LINE()) {
  note_read(p.address, sizeof(T), {file, line});
  note_write(p.address, sizeof(T), {file, line});
  return std::atomic_ref<T>(*p.address).fetch_add(value, std::memory_order_acq_rel);
}

template <class T>
T atomic_max(Global<T> p, std::type_identity_t<T> value, const char* file = __builtin_FILE(),
             int line = __builtin_LINE()) {
  note_read(p.address, sizeof(T), {file, line});
  note_write(p.address, sizeof(T), {file, line});
  std::atomic_ref<T> word(*p.address);
  T old = word.load(std::memory_order_acquire);
  while (old < value && !word.compare_exchange_weak(old, value, std::memory_order_acq_rel)) {
  }
  return old;
}

inline unsigned opaque(unsigned x) { return x; }

inline float ex2(float x) { return std::exp2(x); }

inline std::uint32_t pack_bf16(float lo, float hi) {
  return to_bf16(lo).bits | static_cast<std::uint32_t>(to_bf16(hi).bits) << 16;
}

inline std::uint32_t pack_f16(float lo, float hi) {
  return to_f16(lo).bits | static_cast<std::uint32_t>(to_f16(hi).bits) << 16;
}

inline std::uint32_t unpack_e4m3x2(std::uint16_t two) {
  return pack_f16(to_float(E4m3{static_cast<std::uint8_t>(two & 0xffU)}),
                  to_float(E4m3{static_cast<std::uint8_t>(two >> 8)}));
}

inline std::uint16_t pack_e4m3x2(float lo, float hi) {
  return static_cast<std::uint16_t>(to_e4m3(lo).bits | to_e4m3(hi).bits << 8);
}

// To the nearest float, but inexact results get an odd last bit: rounding them once more, to a
// format with two bits less, gives what one rounding would.
inline float round_to_odd(double x) {
  const auto nearest = static_cast<float>(x);
  if (static_cast<double>(nearest) == x || !std::isfinite(nearest)) return nearest;
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (std::abs(static_cast<double>(nearest)) > std::abs(x)) --bits;
  return std::bit_cast<float>(bits | 1U);
}

// The sum is exact in double where it is near the middle of two halves.
inline std::uint32_t fma_f16x2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const auto half = [](std::uint32_t word, int shift) {
    return static_cast<double>(to_float(F16{static_cast<std::uint16_t>(word >> shift)}));
  };
  const auto one = [&](int shift) {
    return round_to_odd(half(a, shift) * half(b, shift) + half(c, shift));
  };
  return pack_f16(one(0), one(16));
}

inline std::uint32_t byte_perm(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t both = a | static_cast<std::uint64_t>(b) << 32;
  std::uint32_t out = 0;
  for (unsigned i = 0; i < 4; ++i)
    out |= static_cast<std::uint32_t>((both >> (8 * ((selector >> (4 * i)) & 7U))) & 0xffU)
           << (8 * i);
  return out;
}

inline int round_to_int(float x) { return static_cast<int>(std::nearbyint(x)); }

}  // namespace kvsim::kernels::cpu
