#pragma once
#include "kernels/attention/merge.h"
#include "kernels/attention/softmax.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

// One warp merges one row of one group, each lane `value_dim / 32` columns. The maximum first, then
// each partial weighted by 2^(m - maximum): partials are read once, empty ones only their m.
template <int value_dim>
__device__ __forceinline__ void merge_row(const MergeArgs& args, int group, int row) {
  constexpr int columns = value_dim / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int rows = args.heads_per_group * args.tokens;
  int begin = group * args.splits, end = begin + args.splits;
  if (args.first) {
    begin = load(args.first + group);
    end = load(args.first + (group + 1));
    if (begin == end) return;
  }

  float m_all = minus_infinity;
  for (int p = begin + lane; p < end; p += 32) {
    const float m = load(args.partials.m + args.partials.row(p, rows, row));
    m_all = m > m_all ? m : m_all;
  }
  m_all = lanes_max(m_all);

  float l_all = 0;
  float o[columns] = {};
  for (int p = begin; p < end; ++p) {
    const std::int64_t at = args.partials.row(p, rows, row);
    const float weight = rescale(load(args.partials.m + at), m_all);
    if (weight == 0.0F) continue;
    l_all += weight * load(args.partials.l + at);
    const Global<const float> from = args.partials.o + (at * value_dim + lane * columns);
#pragma unroll
    for (int i = 0; i < columns; i += 2) {
      const auto two = load(as<const std::uint64_t>(from + i));
      o[i] += weight * std::bit_cast<float>(static_cast<std::uint32_t>(two));
      o[i + 1] += weight * std::bit_cast<float>(static_cast<std::uint32_t>(two >> 32));
    }
  }

  const std::int64_t out_row = args.out_row(group, row);
  const float scale = reciprocal_or_zero(l_all);
  const Global<Bf16> to = args.out + (out_row * value_dim + lane * columns);
#pragma unroll
  for (int i = 0; i < columns; i += 2)
    store(as<std::uint32_t>(to + i), pack_bf16(o[i] * scale, o[i + 1] * scale));
  if (args.lse && lane == 0) store(args.lse + out_row, natural_lse(m_all, l_all));
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
