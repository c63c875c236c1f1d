#pragma once
#include "kernels/quantized/quantise_rows.cuh"

// One thread per token row (of KIVI's keys: per 16 channels of 32 tokens) reads its elements one by
// one, twice: first for the scale, then for the codes. Neighbouring threads are a row apart, so a
// warp's load touches 32 sectors for 64 bytes.
namespace kvsim::kernels::KVSIM_BACKEND {

constexpr unsigned quantise_naive_threads = 128;

struct NaiveRange {
  float lo, hi;
  __device__ float largest() const { return -lo > hi ? -lo : hi; }
};

// Over `count` elements, `step` apart.
__device__ inline NaiveRange naive_range(Global<const Bf16> from, int count, int step) {
  NaiveRange range{to_float(load(from)), to_float(load(from))};
  for (int i = 1; i < count; ++i) {
    const float x = to_float(load(from + i * step));
    range.lo = x < range.lo ? x : range.lo;
    range.hi = x > range.hi ? x : range.hi;
  }
  return range;
}

template <int bits, class Scale>
__device__ inline void naive_words(Global<const Bf16> from, int count, const Scale& scale,
                                   Global<std::uint32_t> to) {
  constexpr int per_word = 32 / bits;
  for (int w = 0; w < count / per_word; ++w) {
    std::uint32_t word = 0;
    for (int i = 0; i < per_word; ++i)
      word |= scale.code(to_float(load(from + w * per_word + i))) << code_place<bits>(i).shift;
    store(to + w, word);
  }
}

__device__ inline void naive_row(const QuantiseArgs& args, const QuantiseBlock& block, int token) {
  const Global<const Bf16> from = block.from + token * quantised_dim;
  const Global<std::uint8_t> codes = block.codes(args.format, token);
  const Global<std::uint8_t> scales = block.scales(args.format, args.page, token);
  switch (args.format) {
    case KvFormat::fp8: {
      const float inverse = 1.0F / block.scale;
      for (int d = 0; d < quantised_dim; ++d)
        store(codes + d, to_e4m3(to_float(load(from + d)) * inverse).bits);
      return;
    }
    case KvFormat::int8: {
      const SymmetricScale scale(naive_range(from, quantised_dim, 1).largest());
      store(as<F16>(scales), scale.scale);
      for (int d = 0; d < quantised_dim; ++d)
        store(codes + d, static_cast<std::uint8_t>(scale.code(to_float(load(from + d)))));
      return;
    }
    case KvFormat::int4:
      for (int g = 0; g < 2; ++g) {
        const NaiveRange range = naive_range(from + 64 * g, 64, 1);
        const AffineScale scale(range.lo, range.hi, 15.0F);
        store(as<std::uint32_t>(scales) + g, scale.word());
        naive_words<4>(from + 64 * g, 64, scale, as<std::uint32_t>(codes) + 8 * g);
      }
      return;
    case KvFormat::nvfp4:
      for (int g = 0; g < 8; ++g) {
        const BlockScale scale(naive_range(from + 16 * g, 16, 1).largest(), block.scale);
        store(scales + g, scale.scale.bits);
        naive_words<4>(from + 16 * g, 16, scale, as<std::uint32_t>(codes) + 2 * g);
      }
      return;
    case KvFormat::kivi2:
      for (int g = 0; g < 4; ++g) {
        const NaiveRange range = naive_range(from + 32 * g, 32, 1);
        const AffineScale scale(range.lo, range.hi, 3.0F);
        store(as<std::uint32_t>(scales) + g, scale.word());
        naive_words<2>(from + 32 * g, 32, scale, as<std::uint32_t>(codes) + 2 * g);
      }
      return;
  }
}

// Channels 16 * column.. of the 32 tokens from `token`.
__device__ inline void naive_channels(const QuantiseArgs& args, const QuantiseBlock& block,
                                      int token, int column) {
  std::uint32_t words[kivi_group] = {};
  const Global<F16> scales = as<F16>(block.scales(args.format, args.page, token));
#pragma unroll 1
  for (int i = 0; i < 16; ++i) {
    const int channel = 16 * column + i;
    const Global<const Bf16> from = block.from + token * quantised_dim + channel;
    const NaiveRange range = naive_range(from, kivi_group, quantised_dim);
    const AffineScale scale(range.lo, range.hi, 3.0F);
    store(scales + channel, scale.scale);
    store(scales + quantised_dim + channel, scale.zero);
#pragma unroll
    for (int t = 0; t < kivi_group; ++t)
      words[t] |= scale.code(to_float(load(from + t * quantised_dim))) << code_place<2>(i).shift;
  }
#pragma unroll
  for (int t = 0; t < kivi_group; ++t)
    store(as<std::uint32_t>(block.codes(args.format, token + t)) + column, words[t]);
}

__global__ void __launch_bounds__(quantise_naive_threads) quantise_naive(const QuantiseArgs args) {
  const std::int64_t row =
      static_cast<std::int64_t>(blockIdx.x) * quantise_naive_threads + threadIdx.x;
  const int token = static_cast<int>(row % args.page);
  const std::int64_t block_index = row / args.page;
  const int head = static_cast<int>(block_index % args.kv_heads);
  const auto side = static_cast<int>(block_index / args.kv_heads % 2);
  const std::int64_t job = block_index / args.kv_heads / 2;
  if (job >= args.job_count) return;
  const QuantiseBlock block(args, static_cast<int>(job), side, head);
  if (!block.has(token)) return;
  if (args.format == KvFormat::kivi2 && side == 0) {
    const int column = token % kivi_group;
    if (column < 8) naive_channels(args, block, token - column, column);
  } else {
    naive_row(args, block, token);
  }
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
