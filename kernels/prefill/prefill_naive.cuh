#pragma once
#include "kernels/prefill/prefill_common.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr int prefill_naive_threads = 128;

// A block per query and head, a chunk of tokens at a time: each thread scores one token, then each
// owns one dimension of the output. K/V is fetched again for every query and head.
__global__ void __launch_bounds__(prefill_naive_threads) prefill_naive(const PrefillArgs args) {
  KVSIM_SHARED(shared);
  auto* const scores = reinterpret_cast<float*>(shared);
  const int thread = static_cast<int>(threadIdx.x), head = static_cast<int>(blockIdx.x);
  const int query = static_cast<int>(blockIdx.y), sequence = static_cast<int>(blockIdx.z);
  const PrefillSpan span = prefill_span(args, sequence);
  if (query >= span.queries) return;
  const int kv_head = head / (args.q_heads / args.kv.kv_heads), dim = args.kv.head_dim;
  const int visible = span.visible(query, args.mask);
  const std::int64_t row = prefill_row(args, span.first_query + query, head);
  const Global<const Bf16> q = args.q + row * dim;

  float m = minus_infinity, l = 0, o = 0;
  for (int first = 0; first < visible; first += prefill_naive_threads) {
    const int token = first + thread;
    float score = minus_infinity;
    if (token < visible) {
      const Global<const Bf16> key =
          args.kv.keys + row_of_token(args.kv, args.log_page, sequence, kv_head, token);
      float dot = 0;
      for (int d = 0; d < dim; ++d) dot += to_float(load(q + d)) * to_float(load(key + d));
      score = dot * args.scale * log2_e;
    }
    scores[thread] = score;
    __syncthreads();
    const int count =
        visible - first < prefill_naive_threads ? visible - first : prefill_naive_threads;
    float m_new = m;
    for (int i = 0; i < count; ++i) m_new = scores[i] > m_new ? scores[i] : m_new;
    const float kept = rescale(m, m_new);
    m = m_new, l *= kept, o *= kept;
    for (int i = 0; i < count; ++i) {
      const float p = rescale(scores[i], m);
      l += p;
      if (thread < dim) {
        const std::int64_t at = row_of_token(args.kv, args.log_page, sequence, kv_head, first + i);
        o += p * to_float(load(args.kv.values + (at + thread)));
      }
    }
    __syncthreads();
  }
  if (thread < dim) store(args.out + (row * dim + thread), to_bf16(o * reciprocal_or_zero(l)));
  if (thread == 0 && args.lse) store(args.lse + row, natural_lse(m, l));
}

inline void launch_prefill_naive(const PrefillArgs& args, Stream stream) {
  if (args.max_q_len == 0) return;
  launch(prefill_naive,
         {static_cast<unsigned>(args.q_heads), static_cast<unsigned>(args.max_q_len),
          static_cast<unsigned>(args.sequences)},
         prefill_naive_threads, prefill_naive_threads * sizeof(float), stream, args);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
