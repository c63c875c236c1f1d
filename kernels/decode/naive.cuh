#pragma once
#include "kernels/attention/paged_kv.cuh"
#include "kernels/attention/softmax.cuh"
#include "kernels/decode/decode.h"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr int naive_threads = 128;

// One block per (sequence, query head), no split: each thread scores one token of a tile of 128 by
// itself (neighbouring threads read rows far apart), then each thread adds up one column of the
// values. Every query head of a group reads the group's K/V again.
template <int dim>
__global__ void __launch_bounds__(naive_threads) decode_naive(const DecodeArgs args) {
  constexpr int parts = naive_threads / dim;  // threads per column of the output
  KVSIM_SHARED(shared);
  auto* q = reinterpret_cast<float*>(shared);  // [dim]
  float* p = q + dim;                          // [128] probabilities of the tile
  float* reduced = p + naive_threads;          // [4] of warps, then o and l of the parts
  const int thread = static_cast<int>(threadIdx.x), group_size = args.merge.heads_per_group;
  const int head = static_cast<int>(blockIdx.x) % (args.kv.kv_heads * group_size);
  const int b = static_cast<int>(blockIdx.x) / (args.kv.kv_heads * group_size);
  const int len = load(args.kv.lens + b), first = first_visible(len, args.window);
  const std::int64_t out_row = blockIdx.x;

  if (thread < dim) {
    const Bf16 x = load(args.q + (out_row * dim + thread));
    q[thread] = to_float(x) * (args.scale * log2_e);
  }
  const int column = thread % dim, part = thread / dim;
  float m = minus_infinity, l = 0, o = 0;
  for (int base = first; base < len; base += naive_threads) {
    __syncthreads();
    float score = minus_infinity;
    const int token = base + thread;
    if (token < len) {
      const std::int64_t row = row_of_token(args.kv, args.log_page, b, head / group_size, token);
      score = 0;
      for (int d = 0; d < dim; d += 8) {
        const Words4 words = load(as<const Words4>(args.kv.keys + (row + d)));
        for (int i = 0; i < 4; ++i)
          score +=
              q[d + 2 * i] * low_bf16(words.word[i]) + q[d + 2 * i + 1] * high_bf16(words.word[i]);
      }
    }
    const float warp_max = lanes_max(score);
    if (thread % 32 == 0) reduced[thread / 32] = warp_max;
    __syncthreads();
    float m_new = m;
    for (int w = 0; w < naive_threads / 32; ++w) m_new = fmaxf(m_new, reduced[w]);
    const float down = rescale(m, m_new);
    m = m_new;
    p[thread] = ex2(score - finite_or_zero(m));
    __syncthreads();
    l *= down;
    o *= down;
    for (int t = part; t < naive_threads && base + t < len; t += parts) {
      const std::int64_t row = row_of_token(args.kv, args.log_page, b, head / group_size, base + t);
      l += p[t];
      o += p[t] * to_float(load(args.kv.values + (row + column)));
    }
  }
  __syncthreads();
  reduced[thread] = o;
  reduced[naive_threads + thread] = l;
  __syncthreads();
  if (part > 0) return;
  for (int i = 1; i < parts; ++i) {
    o += reduced[i * dim + column];
    l += reduced[naive_threads + i * dim + column];
  }
  store(args.merge.out + (out_row * dim + column), to_bf16(o * reciprocal_or_zero(l)));
  if (args.merge.lse && column == 0) store(args.merge.lse + out_row, natural_lse(m, l));
}

template <int dim>
void launch_decode_naive(const DecodeArgs& args, Stream stream) {
  const auto blocks = static_cast<unsigned>(args.merge.groups * args.merge.heads_per_group);
  if (blocks == 0) return;
  launch(decode_naive<dim>, {blocks}, naive_threads, (dim + 3 * naive_threads) * 4, stream, args);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
