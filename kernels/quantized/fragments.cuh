#pragma once
#include "kernels/quantized/block_at.cuh"
#include "kernels/quantized/f16x2.cuh"

// What a lane holds of a step's keys and values, as they come from memory, and the B operands it
// makes of them. Nothing goes through shared memory: the order of the channels inside a product and
// the column that a channel of the output stands in are free, so each lane loads runs of bytes that
// are its own operands. lane = 4 group + quad:
//
// clang-format off
//   keys     tile t of 8 tokens: token 8 t + group, channels of 16 pairs; pair p is
//            channel(quad, p) and the next. All lanes of a group read one token's row.
//   values   chunk c of 16 tokens: tokens 2 quad, 2 quad + 1 (half 0), 8 more (half 1); channels
//            16 group + j stand in column `group` of output tile j.
// clang-format on
//
// Tokens from `valid` on are not read and count as zeros. A step's rows lie in `pages` runs of 16
// (one run of all where pages is 1).
namespace kvsim::kernels::KVSIM_BACKEND {

struct LanePlace {
  int group, quad;
};
__device__ __forceinline__ LanePlace lane_place() {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  return {lane / 4, lane % 4};
}
// The token of a chunk's slot 0 ... 3.
__device__ __forceinline__ int value_token(int quad, int slot) {
  return 2 * quad + slot % 2 + slot / 2 * 8;
}

// fp8 and int8: 16 tokens, keys as chunks of 16 bytes quad and quad + 4 of the row.
template <KvFormat format>
struct ByteFragments {
  static constexpr int step = 16, pages = 1;
  static constexpr bool scaled_outside = format == KvFormat::fp8;
  __device__ static int channel(int quad, int pair) {
    return 64 * (pair / 8) + 16 * quad + 2 * (pair % 8);
  }

  struct Keys {
    Words4 word[2][2];
    std::uint32_t scale[2];

    __device__ __forceinline__ void load_from(const BlockAt (&rows)[pages], int valid) {
      const BlockAt& at = rows[0];
      const LanePlace me = lane_place();
#pragma unroll
      for (int t = 0; t < 2; ++t) {
        const int token = 8 * t + me.group;
        word[t][0] = word[t][1] = Words4{}, scale[t] = 0;
        if (token >= valid) continue;
        const auto row = as<const Words4>(at.codes<format>(token));
        word[t][0] = load_stream(row + me.quad), word[t][1] = load_stream(row + (me.quad + 4));
        if constexpr (format == KvFormat::int8)
          scale[t] = load(as<const std::uint16_t>(at.scales<format>(token))) * 0x00010001U;
      }
    }
    __device__ __forceinline__ std::uint32_t pair(int tile, int p) const {
      const std::uint32_t w = word[tile][p / 8].word[p % 8 / 2];
      if constexpr (format == KvFormat::fp8) return e4m3_pair(w, p % 2);
      return mul_f16x2(int8_pair(w, p % 2), scale[tile]);
    }
  };

  struct Values {
    Words4 word[4];
    std::uint32_t scale[2];

    __device__ __forceinline__ void load_from(const BlockAt (&rows)[pages], int valid) {
      const BlockAt& at = rows[0];
      const LanePlace me = lane_place();
      std::uint32_t one[4];
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const int token = value_token(me.quad, s);
        word[s] = Words4{}, one[s] = 0;
        if (token >= valid) continue;
        word[s] = load_stream(as<const Words4>(at.codes<format>(token)) + me.group);
        if constexpr (format == KvFormat::int8)
          one[s] = load(as<const std::uint16_t>(at.scales<format>(token)));
      }
      scale[0] = low_halves(one[0], one[1]), scale[1] = low_halves(one[2], one[3]);
    }
    __device__ __forceinline__ std::uint32_t pair(int, int half, int j) const {
      const std::uint32_t bytes =
          bytes_of_two(word[2 * half].word[j / 4], word[2 * half + 1].word[j / 4], j % 4 / 2 * 2);
      if constexpr (format == KvFormat::fp8) return e4m3_pair(bytes, j % 2);
      return mul_f16x2(int8_pair(bytes, j % 2), scale[half]);
    }
  };
};

// int4 and nvfp4: 32 tokens, of one page or of two; a lane's 32 key channels are the 16 bytes from
// channel 32 quad on.
template <KvFormat format>
struct NibbleFragments {
  static constexpr int step = 32, pages = 2;
  static constexpr bool scaled_outside = format == KvFormat::nvfp4;
  __device__ static int channel(int quad, int pair) { return 32 * quad + 2 * pair; }

  struct Keys {
    Words4 word[4];
    std::uint32_t scale[4];  // int4: {scale, zero} of the lane's group; nvfp4: two block scales

    __device__ __forceinline__ void load_from(const BlockAt (&rows)[pages], int valid) {
      const LanePlace me = lane_place();
#pragma unroll
      for (int t = 0; t < 4; ++t) {
        const BlockAt& at = rows[t / 2];
        const int token = 8 * (t % 2) + me.group;
        word[t] = Words4{}, scale[t] = 0;
        if (8 * t + me.group >= valid) continue;
        word[t] = load_stream(as<const Words4>(at.codes<format>(token)) + me.quad);
        const auto scales = at.scales<format>(token);
        if constexpr (format == KvFormat::int4)
          scale[t] = load(as<const std::uint32_t>(scales) + me.quad / 2);
        else
          scale[t] = load(as<const std::uint16_t>(scales) + me.quad);
      }
    }
    __device__ __forceinline__ std::uint32_t pair(int tile, int p) const {
      const std::uint32_t w = word[tile].word[p / 4];
      if constexpr (format == KvFormat::int4)
        return fma_f16x2(code_pair<4>(w, p % 4), low_halves(scale[tile], scale[tile]),
                         high_halves(scale[tile], scale[tile]));
      const std::uint32_t two = e4m3_pair(scale[tile], 0);
      return mul_f16x2(e2m1_pair(w, p % 4), p < 8 ? low_halves(two, two) : high_halves(two, two));
    }
  };

  struct Values {
    Words2 word[2][4];
    std::uint32_t scale[2][4];

    __device__ __forceinline__ void load_from(const BlockAt (&rows)[pages], int valid) {
      const LanePlace me = lane_place();
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const BlockAt& at = rows[i / 4];
        const int token = value_token(me.quad, i % 4);
        Words2& w = word[i / 4][i % 4];
        std::uint32_t& s = scale[i / 4][i % 4];
        w = Words2{}, s = 0;
        if (16 * (i / 4) + token >= valid) continue;
        w = load(as<const Words2>(at.codes<format>(token)) + me.group);
        const auto scales = at.scales<format>(token);
        if constexpr (format == KvFormat::int4)
          s = load(as<const std::uint32_t>(scales) + me.group / 4);
        else
          s = load(scales + me.group);
      }
    }
    __device__ __forceinline__ std::uint32_t pair(int chunk, int half, int j) const {
      const int a = 2 * half, b = a + 1;
      const std::uint32_t wa = word[chunk][a].word[j / 8], wb = word[chunk][b].word[j / 8];
      const std::uint32_t codes = j % 2 == 0 ? low_halves(wa, wb) : high_halves(wa, wb);
      const std::uint32_t sa = scale[chunk][a], sb = scale[chunk][b];
      if constexpr (format == KvFormat::int4)
        return fma_f16x2(code_pair<4>(codes, j % 8 / 2), low_halves(sa, sb), high_halves(sa, sb));
      return mul_f16x2(e2m1_pair(codes, j % 8 / 2), e4m3_pair(sa | sb << 8, 0));
    }
  };
};

// kivi2: 32 tokens, one group of the keys, whose scales the lane holds for its 32 channels.
struct KiviFragments {
  static constexpr int step = kivi_group, pages = 1;
  static constexpr bool scaled_outside = false;
  static constexpr KvFormat format = KvFormat::kivi2;
  __device__ static int channel(int quad, int pair) { return 32 * quad + 2 * pair; }

  struct Keys {
    Words2 word[4];
    Words4 scale[4], zero[4];

    // Groups are whole.
    __device__ __forceinline__ void load_from(const BlockAt (&rows)[pages], int) {
      const BlockAt& at = rows[0];
      const LanePlace me = lane_place();
#pragma unroll
      for (int t = 0; t < 4; ++t)
        word[t] = load(as<const Words2>(at.codes<format>(8 * t + me.group)) + me.quad);
      const auto scales = as<const Words4>(at.scales<format>(0)) + 4 * me.quad;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        scale[i] = load(scales + i);
        zero[i] = load(scales + (16 + i));
      }
    }
    __device__ __forceinline__ std::uint32_t pair(int tile, int p) const {
      return fma_f16x2(code_pair<2>(word[tile].word[p / 8], p % 8), scale[p / 4].word[p % 4],
                       zero[p / 4].word[p % 4]);
    }
  };

  struct Values {
    std::uint32_t word[2][4], scale[2][4];

    __device__ __forceinline__ void load_from(const BlockAt (&rows)[pages], int) {
      const BlockAt& at = rows[0];
      const LanePlace me = lane_place();
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const int token = 16 * (i / 4) + value_token(me.quad, i % 4);
        word[i / 4][i % 4] = load(as<const std::uint32_t>(at.codes<format>(token)) + me.group);
        scale[i / 4][i % 4] =
            load(as<const std::uint32_t>(at.scales<format>(token)) + me.group / 2);
      }
    }
    __device__ __forceinline__ std::uint32_t pair(int chunk, int half, int j) const {
      const int a = 2 * half, b = a + 1;
      const std::uint32_t wa = word[chunk][a], wb = word[chunk][b];
      const std::uint32_t codes = j % 2 == 0 ? low_halves(wa, wb) : high_halves(wa, wb);
      const std::uint32_t sa = scale[chunk][a], sb = scale[chunk][b];
      return fma_f16x2(code_pair<2>(codes, j / 2), low_halves(sa, sb), high_halves(sa, sb));
    }
  };
};

template <KvFormat format>
struct FragmentsOf {
  using Type = ByteFragments<format>;
};
template <>
struct FragmentsOf<KvFormat::int4> {
  using Type = NibbleFragments<KvFormat::int4>;
};
template <>
struct FragmentsOf<KvFormat::nvfp4> {
  using Type = NibbleFragments<KvFormat::nvfp4>;
};
template <>
struct FragmentsOf<KvFormat::kivi2> {
  using Type = KiviFragments;
};

}  // namespace kvsim::kernels::KVSIM_BACKEND
