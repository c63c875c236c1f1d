#pragma once
#include <cstdint>

#include "kernels/fill/fill.h"
#include "kernels/host/array.h"
#include "kernels/numbers/noise.h"
#include "kernels/numbers/numbers.h"

// The formats of the factors of a product, and matrices of N(0, 1) in them.
namespace kvsim::kernels {

template <class T>
struct MatrixFormat;
template <>
struct MatrixFormat<Bf16> {
  static constexpr const char* name = "bf16";
  static Bf16 from(float x) { return to_bf16(x); }
  static void fill(Device& device, Array<Bf16>& to, std::uint64_t seed) {
    fill_bf16(device, to, seed, 1);
  }
};
template <>
struct MatrixFormat<E4m3> {
  static constexpr const char* name = "e4m3";
  static E4m3 from(float x) { return to_e4m3(x); }
  static void fill(Device& device, Array<E4m3>& to, std::uint64_t seed) {
    fill_e4m3(device, to, seed, 1);
  }
};

// Element `index` of the matrix of that seed.
template <class T>
T noise_element(std::uint64_t seed, std::int64_t index) {
  return MatrixFormat<T>::from(noise_normal(seed, static_cast<std::uint64_t>(index)));
}
template <class T>
float noise_value(std::uint64_t seed, std::int64_t index) {
  return to_float(noise_element<T>(seed, index));
}

template <class T>
Array<T> noise_matrix(Device& device, std::int64_t count, std::uint64_t seed) {
  Array<T> out(device, static_cast<std::size_t>(count));
  MatrixFormat<T>::fill(device, out, seed);
  return out;
}

}  // namespace kvsim::kernels
