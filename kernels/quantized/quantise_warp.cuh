#pragma once
#include "kernels/quantized/quantise_rows.cuh"

// One warp per 16 tokens of a block (32 for KIVI's keys). Half a warp holds a row, 8 channels per
// lane, so each load is 512 contiguous bytes; a lane has all its 16-byte loads in flight before the
// first use, every element is read once, and the groups' ranges go through shuffles.
namespace kvsim::kernels::KVSIM_BACKEND {

constexpr unsigned quantise_warp_threads = 128;

// Eight channels of one lane.
struct QuantiseLaneRow {
  float x[8];
  __device__ explicit QuantiseLaneRow(const Words4& words) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      x[2 * i] = to_float(Bf16{static_cast<std::uint16_t>(words.word[i] & 0xffffU)});
      x[2 * i + 1] = to_float(Bf16{static_cast<std::uint16_t>(words.word[i] >> 16)});
    }
  }
  __device__ float lo() const {
    float out = x[0];
#pragma unroll
    for (int i = 1; i < 8; ++i) out = x[i] < out ? x[i] : out;
    return out;
  }
  __device__ float hi() const {
    float out = x[0];
#pragma unroll
    for (int i = 1; i < 8; ++i) out = x[i] > out ? x[i] : out;
    return out;
  }
};

template <int bits, class Scale>
__device__ inline std::uint32_t lane_codes(const QuantiseLaneRow& row, const Scale& scale) {
  std::uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) word |= scale.code(row.x[i]) << code_place<bits>(i).shift;
  return word;
}

// Two lanes' eight 2-bit codes each make one word; both get it. Odd lanes hold its upper channels.
__device__ inline std::uint32_t joined_codes(std::uint32_t codes, int lane) {
  const std::uint32_t mine = lane % 2 == 0 ? codes : codes << 8;
  return mine | __shfl_xor_sync(full_warp, mine, 1);
}

// One row per half warp; a lane with `valid` false takes part and stores nothing.
template <KvFormat format>
__device__ inline void quantise_row(const QuantiseLaneRow& row, const QuantiseBlock& block,
                                    int page, int token, int lane, bool valid) {
  const Global<std::uint8_t> codes = block.codes(format, token);
  const Global<std::uint8_t> scales = block.scales(format, page, token);
  if constexpr (format == KvFormat::fp8) {
    const float inverse = 1.0F / block.scale;
    Words2 words;
#pragma unroll
    for (int i = 0; i < 2; ++i)
      words.word[i] = pack_e4m3x2(row.x[4 * i] * inverse, row.x[4 * i + 1] * inverse) |
                      static_cast<std::uint32_t>(
                          pack_e4m3x2(row.x[4 * i + 2] * inverse, row.x[4 * i + 3] * inverse))
                          << 16;
    if (valid) store(as<Words2>(codes) + lane, words);
  } else if constexpr (format == KvFormat::int8) {
    const float lo = -row.lo(), hi = row.hi();
    const SymmetricScale scale(lanes_max<16>(lo > hi ? lo : hi));
    Words2 words{};
#pragma unroll
    for (int i = 0; i < 8; ++i) words.word[i / 4] |= scale.code(row.x[i]) << (8 * (i % 4));
    if (valid) store(as<Words2>(codes) + lane, words);
    if (valid && lane == 0) store(as<F16>(scales), scale.scale);
  } else if constexpr (format == KvFormat::int4) {
    const float lo = -lanes_max<8>(-row.lo());
    const AffineScale scale(lo, lanes_max<8>(row.hi()), 15.0F);
    if (valid) store(as<std::uint32_t>(codes) + lane, lane_codes<4>(row, scale));
    if (valid && lane % 8 == 0) store(as<std::uint32_t>(scales) + lane / 8, scale.word());
  } else if constexpr (format == KvFormat::nvfp4) {
    const float lo = -row.lo(), hi = row.hi();
    const BlockScale scale(lanes_max<2>(lo > hi ? lo : hi), block.scale);
    if (valid) store(as<std::uint32_t>(codes) + lane, lane_codes<4>(row, scale));
    if (valid && lane % 2 == 0) store(scales + lane / 2, scale.scale.bits);
  } else {
    const float lo = -lanes_max<4>(-row.lo());
    const AffineScale scale(lo, lanes_max<4>(row.hi()), 3.0F);
    const std::uint32_t word = joined_codes(lane_codes<2>(row, scale), lane);
    if (valid && lane % 2 == 0) store(as<std::uint32_t>(codes) + lane / 2, word);
    if (valid && lane % 4 == 0) store(as<std::uint32_t>(scales) + lane / 4, scale.word());
  }
}

// 16 tokens from `token`, the lower half warp takes the even ones.
template <KvFormat format>
__device__ inline void quantise_slab(const QuantiseBlock& block, int page, int token) {
  const int lane = static_cast<int>(threadIdx.x % 16),
            half = static_cast<int>(threadIdx.x / 16 % 2);
  const Global<const Words4> from =
      as<const Words4>(block.from + (token + half) * quantised_dim) + lane;
  Words4 held[8] = {};
#pragma unroll
  for (int i = 0; i < 8; ++i)
    if (block.has(token + half + 2 * i)) held[i] = load_stream(from + 32 * i);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int mine = token + half + 2 * i;
    quantise_row<format>(QuantiseLaneRow(held[i]), block, page, mine, lane, block.has(mine));
  }
}

__device__ inline std::uint32_t two_halves(F16 lo, F16 hi) {
  return lo.bits | static_cast<std::uint32_t>(hi.bits) << 16;
}

// KIVI's keys: 32 tokens from `token`, scales by channel.
__device__ inline void quantise_channels(const QuantiseBlock& block, int page, int token) {
  const int lane = static_cast<int>(threadIdx.x % 16),
            half = static_cast<int>(threadIdx.x / 16 % 2);
  const Global<const Words4> from =
      as<const Words4>(block.from + (token + half) * quantised_dim) + lane;
  Words4 held[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) held[i] = load_stream(from + 32 * i);

  std::uint32_t words[16] = {};
  Words4 scales{}, zeros{};
#pragma unroll
  for (int c = 0; c < 8; ++c) {
    float lo = QuantiseLaneRow(held[0]).x[c], hi = lo;
#pragma unroll
    for (int i = 1; i < 16; ++i) {
      const float x = QuantiseLaneRow(held[i]).x[c];
      lo = x < lo ? x : lo;
      hi = x > hi ? x : hi;
    }
    const float other_lo = __shfl_xor_sync(full_warp, lo, 16);
    const float other_hi = __shfl_xor_sync(full_warp, hi, 16);
    const AffineScale scale(other_lo < lo ? other_lo : lo, other_hi > hi ? other_hi : hi, 3.0F);
    scales.word[c / 2] |= static_cast<std::uint32_t>(scale.scale.bits) << (16 * (c % 2));
    zeros.word[c / 2] |= static_cast<std::uint32_t>(scale.zero.bits) << (16 * (c % 2));
#pragma unroll
    for (int i = 0; i < 16; ++i)
      words[i] |= scale.code(QuantiseLaneRow(held[i]).x[c]) << code_place<2>(c).shift;
  }
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const std::uint32_t word = joined_codes(words[i], lane);
    const int mine = token + half + 2 * i;
    if (lane % 2 == 0)
      store(as<std::uint32_t>(block.codes(KvFormat::kivi2, mine)) + lane / 2, word);
  }
  const Global<Words4> to = as<Words4>(block.scales(KvFormat::kivi2, page, token));
  if (half == 0) store(to + lane, scales);
  if (half == 1) store(to + 16 + lane, zeros);
}

// Units of a block in order: a warp takes `slab` tokens.
template <KvFormat format>
__global__ void __launch_bounds__(quantise_warp_threads) quantise_warp(const QuantiseArgs args) {
  constexpr int slab = format == KvFormat::kivi2 ? kivi_group : 16;
  const std::int64_t unit =
      static_cast<std::int64_t>(blockIdx.x) * (quantise_warp_threads / 32) + threadIdx.x / 32;
  const int slabs = args.page / slab;
  const int token = static_cast<int>(unit % slabs) * slab;
  const std::int64_t block_index = unit / slabs;
  const int head = static_cast<int>(block_index % args.kv_heads);
  const auto side = static_cast<int>(block_index / args.kv_heads % 2);
  const std::int64_t job = block_index / args.kv_heads / 2;
  if (job >= args.job_count) return;
  const QuantiseBlock block(args, static_cast<int>(job), side, head);
  if (token + slab <= block.job.first || token >= block.job.first + block.job.count) return;
  if constexpr (format == KvFormat::kivi2) {
    if (side == 0) {
      quantise_channels(block, args.page, token);
      return;
    }
    quantise_slab<format>(block, args.page, token);
    quantise_slab<format>(block, args.page, token + 16);
  } else {
    quantise_slab<format>(block, args.page, token);
  }
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
