#pragma once
#include "kernels/attention/softmax.cuh"
#include "kernels/quantized/fragments.cuh"

// Tokens that are not quantised yet, as fragments with KIVI's order of channels.
namespace kvsim::kernels::KVSIM_BACKEND {

// Rows of one (sequence, kv head) from a token on.
struct ResidualAt {
  Global<const Bf16> first;
};

struct ResidualFragments {
  static constexpr int step = 16, pages = 1;

  struct Keys {
    Words4 word[2][4];

    __device__ __forceinline__ void load_from(const ResidualAt (&rows)[pages], int valid) {
      const ResidualAt& at = rows[0];
      const LanePlace me = lane_place();
#pragma unroll
      for (int t = 0; t < 2; ++t) {
        const int token = 8 * t + me.group;
        const auto row = as<const Words4>(at.first + token * quantised_dim) + 4 * me.quad;
#pragma unroll
        for (int i = 0; i < 4; ++i) word[t][i] = token < valid ? load_stream(row + i) : Words4{};
      }
    }
    __device__ __forceinline__ std::uint32_t pair(int tile, int p) const {
      const std::uint32_t two = word[tile][p / 4].word[p % 4];
      return pack_f16(low_bf16(two), high_bf16(two));
    }
  };

  struct Values {
    Words4 word[4][2];

    __device__ __forceinline__ void load_from(const ResidualAt (&rows)[pages], int valid) {
      const ResidualAt& at = rows[0];
      const LanePlace me = lane_place();
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const int token = value_token(me.quad, s);
        const auto row = as<const Words4>(at.first + token * quantised_dim) + 2 * me.group;
#pragma unroll
        for (int i = 0; i < 2; ++i) word[s][i] = token < valid ? load_stream(row + i) : Words4{};
      }
    }
    __device__ __forceinline__ std::uint32_t pair(int, int half, int j) const {
      const std::uint32_t a = word[2 * half][j / 8].word[j % 8 / 2];
      const std::uint32_t b = word[2 * half + 1][j / 8].word[j % 8 / 2];
      return j % 2 == 0 ? pack_f16(low_bf16(a), low_bf16(b)) : pack_f16(high_bf16(a), high_bf16(b));
    }
  };
};

}  // namespace kvsim::kernels::KVSIM_BACKEND
