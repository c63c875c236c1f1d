#pragma once
#include "kernels/attention/multi_row.h"
#include "kernels/attention/paged_kv.cuh"
#include "kernels/attention/softmax.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr int naive_rows_threads = 128;

// One block per query row: each thread scores one token of a step of 128, then each adds up one
// column of the values. Every row reads all its tokens again.
template <int dim>
__global__ void __launch_bounds__(naive_rows_threads) multi_row_naive(const MultiRowArgs args) {
  KVSIM_SHARED(shared);
  auto* q = reinterpret_cast<float*>(shared);  // [dim]
  float* scores = q + dim;                     // [128]
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t row = blockIdx.x;
  const int kv_head = static_cast<int>(row / args.heads_per_group % args.kv.kv_heads);
  const std::int64_t query = row / (args.heads_per_group * args.kv.kv_heads);
  const int b = static_cast<int>(query / args.tokens);

  const int len = load(args.kv.lens + b);
  const int end = len < args.end_token ? len : args.end_token;
  const int context = end > args.first_token ? end - args.first_token : 0;
  const std::uint64_t seen = args.draft.keys ? load(args.draft.ancestors + query) : 0U;
  const int all = context + (args.draft.keys ? args.tokens : 0);
  // Elements before the row of token i: of the context, then of the draft.
  const auto row_of = [&](int i) {
    if (i < context) return row_of_token(args.kv, args.log_page, b, kv_head, args.first_token + i);
    const std::int64_t token = static_cast<std::int64_t>(b) * args.tokens + (i - context);
    return (token * args.kv.kv_heads + kv_head) * dim;
  };
  const auto visible = [&](int i) { return i < context || (seen >> (i - context) & 1U) != 0U; };

  if (thread < dim)
    q[thread] = to_float(load(args.q + (row * dim + thread))) * (args.scale * log2_e);
  float m = minus_infinity, l = 0, o = 0;
  for (int base = 0; base < all; base += naive_rows_threads) {
    __syncthreads();
    const int mine = base + thread;
    float score = minus_infinity;
    if (mine < all && visible(mine)) {
      const Global<const Bf16> key =
          (mine < context ? args.kv.keys : args.draft.keys) + row_of(mine);
      score = 0;
      for (int d = 0; d < dim; d += 8) {
        const Words4 words = load(as<const Words4>(key + d));
        for (int i = 0; i < 4; ++i)
          score +=
              q[d + 2 * i] * low_bf16(words.word[i]) + q[d + 2 * i + 1] * high_bf16(words.word[i]);
      }
    }
    scores[thread] = score;
    __syncthreads();
    const int count = all - base < naive_rows_threads ? all - base : naive_rows_threads;
    float m_new = m;
    for (int i = 0; i < count; ++i) m_new = fmaxf(m_new, scores[i]);
    const float down = rescale(m, m_new);
    m = m_new, l *= down, o *= down;
    for (int i = 0; i < count; ++i) {
      const float p = ex2(scores[i] - finite_or_zero(m));
      l += p;
      if (p == 0.0F || thread >= dim) continue;
      const Global<const Bf16> value = base + i < context ? args.kv.values : args.draft.values;
      o += p * to_float(load(value + (row_of(base + i) + thread)));
    }
  }
  if (thread < dim)
    store(args.merge.out + (row * dim + thread), to_bf16(o * reciprocal_or_zero(l)));
  if (args.merge.lse && thread == 0) store(args.merge.lse + row, natural_lse(m, l));
}

void launch_multi_row_naive(const MultiRowArgs& args, Stream stream) {
  if (args.rows() == 0) return;
  const Dim3 grid{static_cast<unsigned>(args.rows())};
  const auto shared = static_cast<unsigned>(args.kv.head_dim + naive_rows_threads) * 4U;
  args.kv.head_dim == 64
      ? launch(multi_row_naive<64>, grid, naive_rows_threads, shared, stream, args)
      : launch(multi_row_naive<128>, grid, naive_rows_threads, shared, stream, args);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
