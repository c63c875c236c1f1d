#pragma once
#include "kernels/attention/merge.h"
#include "kernels/attention/softmax.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr int merge_warps = 4;

// One warp per output row, each lane `value_dim / 32` columns. The maximum first, then each partial
// weighted by 2^(m - maximum): partials are read once, empty ones only their m.
template <int value_dim>
__global__ void __launch_bounds__(merge_warps * 32) merge_partials(const MergeArgs args) {
  constexpr int columns = value_dim / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int rows = args.heads_per_group * args.tokens;
  const std::int64_t index =
      static_cast<std::int64_t>(blockIdx.x) * merge_warps + static_cast<int>(threadIdx.x) / 32;
  if (index >= static_cast<std::int64_t>(args.groups) * rows) return;
  const int group = static_cast<int>(index / rows), row = static_cast<int>(index % rows);
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

  const int b = group / args.kv_heads, kv_head = group % args.kv_heads;
  const int token = row / args.heads_per_group, head = row % args.heads_per_group;
  const std::int64_t out_row =
      ((static_cast<std::int64_t>(b) * args.tokens + token) * args.kv_heads + kv_head) *
          args.heads_per_group +
      head;
  const float scale = reciprocal_or_zero(l_all);
  const Global<Bf16> to = args.out + (out_row * value_dim + lane * columns);
#pragma unroll
  for (int i = 0; i < columns; i += 2)
    store(as<std::uint32_t>(to + i), pack_bf16(o[i] * scale, o[i + 1] * scale));
  if (args.lse && lane == 0) store(args.lse + out_row, natural_lse(m_all, l_all));
}

void launch_merge(const MergeArgs& args, Stream stream) {
  const std::int64_t rows =
      static_cast<std::int64_t>(args.groups) * args.heads_per_group * args.tokens;
  if (rows == 0) return;
  const Dim3 grid{static_cast<unsigned>((rows + merge_warps - 1) / merge_warps)};
  constexpr unsigned threads = merge_warps * 32;
  switch (args.value_dim) {
    case 64:
      return launch(merge_partials<64>, grid, threads, 0, stream, args);
    case 128:
      return launch(merge_partials<128>, grid, threads, 0, stream, args);
    case 256:
      return launch(merge_partials<256>, grid, threads, 0, stream, args);
    case 512:
      return launch(merge_partials<512>, grid, threads, 0, stream, args);
    default:
      throw LaunchError("merge: value_dim must be 64, 128, 256 or 512");
  }
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
