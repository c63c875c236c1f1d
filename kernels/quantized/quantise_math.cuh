#pragma once
#include "kernels/attention/softmax.cuh"
#include "kernels/device/kv_device.h"
#include "kernels/quantized/layout.h"

// The arithmetic of quantisation, step by step in float, so that every backend makes the same bits:
// no product is added to anything (nvcc would fuse it), divisions are IEEE divisions.
namespace kvsim::kernels::KVSIM_BACKEND {

constexpr float f16_largest = 65504.0F;

__device__ inline float clamped(float x, float lo, float hi) {
  const float above = x < lo ? lo : x;
  return above > hi ? hi : above;
}

// int8: symmetric, one scale.
struct SymmetricScale {
  F16 scale;
  float inverse;
  __device__ explicit SymmetricScale(float largest)
      : scale(to_f16(clamped(largest / 127.0F, 0.0F, f16_largest))),
        inverse(reciprocal_or_zero(to_float(scale))) {}
  __device__ std::uint32_t code(float x) const {
    return static_cast<std::uint32_t>(round_to_int(clamped(x * inverse, -127.0F, 127.0F))) & 0xffU;
  }
};

// int4 and KIVI: codes 0..levels between the least and the largest value; the code is taken from
// the scale and the zero as they are stored.
struct AffineScale {
  F16 scale, zero;
  float inverse, base, levels;
  __device__ AffineScale(float lo, float hi, float top)
      : scale(to_f16(clamped((hi - lo) / top, 0.0F, f16_largest))),
        zero(to_f16(clamped(lo, -f16_largest, f16_largest))),
        inverse(reciprocal_or_zero(to_float(scale))),
        base(to_float(zero)),
        levels(top) {}
  __device__ std::uint32_t code(float x) const {
    return static_cast<std::uint32_t>(round_to_int(clamped((x - base) * inverse, 0.0F, levels)));
  }
  __device__ std::uint32_t word() const {
    return scale.bits | static_cast<std::uint32_t>(zero.bits) << 16;
  }
};

// nvfp4: e4m3 scale of 16 channels under the float scale of the tensor.
struct BlockScale {
  E4m3 scale;
  float inverse;
  __device__ BlockScale(float largest, float tensor)
      : scale(to_e4m3(largest / (6.0F * tensor))),
        inverse(reciprocal_or_zero(to_float(scale) * tensor)) {}
  __device__ std::uint32_t code(float x) const { return float_to_e2m1(x * inverse); }
};

}  // namespace kvsim::kernels::KVSIM_BACKEND
