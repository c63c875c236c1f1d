#pragma once
#include "kernels/attention/softmax.cuh"
#include "kernels/quantized/block_at.cuh"

// The plain way: one block per query head, no split, every element decoded for itself. 128 tokens
// at a time, first a thread per token for the scores, then a thread per channel for the output. The
// heads of a group read and decode the same bytes again.
namespace kvsim::kernels::KVSIM_BACKEND {

constexpr unsigned decode_simt_threads = 128;

__device__ inline float stored_f16(Global<const std::uint8_t> p) {
  return to_float(load(as<const F16>(p)));
}

template <int bits>
__device__ inline float stored_code(Global<const std::uint8_t> row, int channel) {
  const CodePlace place = code_place<bits>(channel);
  const std::uint32_t word = load(as<const std::uint32_t>(row) + place.word);
  return static_cast<float>((word >> place.shift) & ((1U << bits) - 1U));
}

// A channel of the token at a slot, without the scale of the head.
template <KvFormat format>
__device__ inline float stored_value(const BlockAt& at, bool is_key, int channel) {
  const Global<const std::uint8_t> row = at.codes<format>(0), scales = at.scales<format>(0);
  if constexpr (format == KvFormat::fp8) {
    return to_float(E4m3{load(row + channel)});
  } else if constexpr (format == KvFormat::int8) {
    return static_cast<float>(static_cast<std::int8_t>(load(row + channel))) * stored_f16(scales);
  } else if constexpr (format == KvFormat::int4) {
    const auto scale = scales + channel / 64 * 4;
    return stored_code<4>(row, channel) * stored_f16(scale) + stored_f16(scale + 2);
  } else if constexpr (format == KvFormat::nvfp4) {
    const CodePlace place = code_place<4>(channel);
    const std::uint32_t word = load(as<const std::uint32_t>(row) + place.word);
    return e2m1_to_float((word >> place.shift) & 15U) * to_float(E4m3{load(scales + channel / 16)});
  } else if (is_key) {
    const BlockAt begin{at.block, at.page, at.slot / kivi_group * kivi_group};
    const auto scale = begin.scales<format>(0) + 2 * channel;
    return stored_code<2>(row, channel) * stored_f16(scale) + stored_f16(scale + 2 * quantised_dim);
  } else {
    const auto scale = scales + channel / 32 * 4;
    return stored_code<2>(row, channel) * stored_f16(scale) + stored_f16(scale + 2);
  }
}

// One token, wherever it is.
template <KvFormat format>
struct StoredToken {
  BlockAt at;
  Global<const Bf16> residual;

  __device__ StoredToken(const QuantisedKv& kv, bool is_key, int sequence, int head, int token,
                         int pooled) {
    if (token < pooled) {
      at = block_at<format>(kv, is_key ? kv.keys : kv.values,
                            quantised_page_of(kv, sequence, token), head, token);
    } else {
      const std::int64_t row =
          (static_cast<std::int64_t>(sequence) * kv.kv_heads + head) * kv.residual + token - pooled;
      residual = (is_key ? kv.key_residual : kv.value_residual) + row * quantised_dim;
    }
  }
  __device__ float channel(bool is_key, int d) const {
    return residual ? to_float(load(residual + d)) : stored_value<format>(at, is_key, d);
  }
};

template <KvFormat format>
__global__ void __launch_bounds__(decode_simt_threads, 8)
    decode_quantised_simt(const DecodeQuantisedArgs args) {
  constexpr bool scaled_outside = format == KvFormat::fp8 || format == KvFormat::nvfp4;
  constexpr int tile = static_cast<int>(decode_simt_threads);
  KVSIM_SHARED(shared);
  auto* query = reinterpret_cast<float*>(shared);
  float* scores = query + quantised_dim;
  const QuantisedKv& kv = args.kv;
  const int me = static_cast<int>(threadIdx.x), sequence = static_cast<int>(blockIdx.y);
  const int heads = args.merge.heads_per_group * kv.kv_heads;
  const int head = static_cast<int>(blockIdx.x) / args.merge.heads_per_group;
  const std::int64_t row = static_cast<std::int64_t>(sequence) * heads + blockIdx.x;
  const float key_scale = scaled_outside ? load(kv.key_scale + head) : 1.0F;
  const float value_scale = scaled_outside ? load(kv.value_scale + head) : 1.0F;
  const int len = load(kv.lens + sequence);
  const int pooled = kv.quantised ? load(kv.quantised + sequence) : len;

  query[me] = to_float(load(args.q + (row * quantised_dim + me))) * args.scale * log2_e * key_scale;
  float m = minus_infinity, l = 0, o = 0;
  for (int first = 0; first < len; first += tile) {
    __syncthreads();
    float score = minus_infinity;
    if (first + me < len) {
      const StoredToken<format> key(kv, true, sequence, head, first + me, pooled);
      score = 0;
#pragma unroll 2
      for (int d = 0; d < quantised_dim; ++d) score += query[d] * key.channel(true, d);
    }
    scores[me] = score;
    __syncthreads();
    const int tokens = len - first < tile ? len - first : tile;
    float m_new = m;
#pragma unroll 1
    for (int t = 0; t < tokens; ++t) m_new = fmaxf(m_new, scores[t]);
    const float down = rescale(m, m_new);
    m = m_new, l *= down, o *= down;
#pragma unroll 1
    for (int t = 0; t < tokens; ++t) {
      const StoredToken<format> value(kv, false, sequence, head, first + t, pooled);
      const float p = ex2(scores[t] - finite_or_zero(m));
      l += p;
      o += p * value.channel(false, me);
    }
  }
  store(args.merge.out + (row * quantised_dim + me),
        to_bf16(o * reciprocal_or_zero(l) * value_scale));
  if (args.merge.lse && me == 0) store(args.merge.lse + row, natural_lse(m, l));
}

template <KvFormat format>
void launch_quantised_simt(const DecodeQuantisedArgs& args, Stream stream) {
  const auto heads = static_cast<unsigned>(args.merge.heads_per_group * args.kv.kv_heads);
  launch(decode_quantised_simt<format>, {heads, static_cast<unsigned>(args.sequences)},
         decode_simt_threads, 2 * quantised_dim * sizeof(float), stream, args);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
