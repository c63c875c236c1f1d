#pragma once
#include "kernels/attention/paged_kv.cuh"
#include "kernels/attention/softmax.cuh"
#include "kernels/h2o/h2o.h"

// The plain way in two passes: attention that remembers its log-sum-exp only, then every score once
// more.
namespace kvsim::kernels::KVSIM_BACKEND {

constexpr int h2o_naive_columns = 4;  // per lane: head_dim up to 128

// A warp per query head, a token at a time.
__global__ void __launch_bounds__(32) h2o_attend_naive(const H2oArgs args) {
  const int lane = static_cast<int>(threadIdx.x);
  const int heads = args.kv.kv_heads * args.heads_per_group;
  const int row = static_cast<int>(blockIdx.x), b = row / heads, head = row % heads;
  const int kv_head = head / args.heads_per_group, width = args.kv.head_dim;
  const int len = load(args.kv.lens + b);
  const std::int64_t at = static_cast<std::int64_t>(row) * width;
  float q[h2o_naive_columns], o[h2o_naive_columns] = {};
#pragma unroll
  for (int i = 0; i < h2o_naive_columns; ++i)
    q[i] = lane + 32 * i < width ? to_float(load(args.q + (at + lane + 32 * i))) : 0.0F;
  float m = minus_infinity, l = 0;
  for (int t = 0; t < len; ++t) {
    const std::int64_t kv_at = row_of_token(args.kv, args.log_page, b, kv_head, t) + lane;
    float score = 0;
#pragma unroll
    for (int i = 0; i < h2o_naive_columns; ++i)
      if (lane + 32 * i < width) score += q[i] * to_float(load(args.kv.keys + (kv_at + 32 * i)));
    score = lanes_sum(score) * args.scale_log2;
    const float m_new = score > m ? score : m;
    const float keep = rescale(m, m_new), p = ex2(score - finite_or_zero(m_new));
    l = l * keep + p;
    m = m_new;
#pragma unroll
    for (int i = 0; i < h2o_naive_columns; ++i)
      if (lane + 32 * i < width)
        o[i] = o[i] * keep + p * to_float(load(args.kv.values + (kv_at + 32 * i)));
  }
#pragma unroll
  for (int i = 0; i < h2o_naive_columns; ++i)
    if (lane + 32 * i < width)
      store(args.out + (at + lane + 32 * i), to_bf16(o[i] * reciprocal_or_zero(l)));
  if (lane == 0) store(args.lse + row, natural_lse(m, l));
}

// A thread per (sequence, kv head, token): its keys are read a second time.
__global__ void __launch_bounds__(128) h2o_accumulate_naive(const H2oArgs args) {
  const int group = static_cast<int>(blockIdx.y), width = args.kv.head_dim;
  const int b = group / args.kv.kv_heads, kv_head = group % args.kv.kv_heads;
  const int t = static_cast<int>(blockIdx.x * 128 + threadIdx.x);
  if (t >= load(args.kv.lens + b)) return;
  const std::int64_t key = row_of_token(args.kv, args.log_page, b, kv_head, t);
  float mass = 0;
  for (int g = 0; g < args.heads_per_group; ++g) {
    const std::int64_t row = static_cast<std::int64_t>(group) * args.heads_per_group + g;
    float score = 0;
    for (int i = 0; i < width; ++i)
      score +=
          to_float(load(args.q + (row * width + i))) * to_float(load(args.kv.keys + (key + i)));
    mass += ex2(score * args.scale_log2 - load(args.lse + row) * log2_e);
  }
  const Global<float> to = args.accumulated + (static_cast<std::int64_t>(group) * args.stride + t);
  store(to, load(to) + mass);
}

inline void launch_h2o_naive(const H2oArgs& args, Stream stream) {
  const auto groups = static_cast<unsigned>(args.sequences * args.kv.kv_heads);
  if (groups == 0) return;
  launch(h2o_attend_naive, {groups * static_cast<unsigned>(args.heads_per_group)}, 32, 0, stream,
         args);
  const auto blocks = static_cast<unsigned>((args.stride + 127) / 128);
  if (blocks > 0) launch(h2o_accumulate_naive, {blocks, groups}, 128, 0, stream, args);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
