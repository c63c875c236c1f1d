#pragma once
#include "kernels/attention/merge_row.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr int merge_warps = 4;

// A block takes the rows blockIdx.x * merge_warps ... of all groups' rows, one per warp.
template <int value_dim>
__global__ void __launch_bounds__(merge_warps * 32) merge_partials(const MergeArgs args) {
  const int rows = args.heads_per_group * args.tokens;
  const std::int64_t index =
      static_cast<std::int64_t>(blockIdx.x) * merge_warps + static_cast<int>(threadIdx.x) / 32;
  if (index >= static_cast<std::int64_t>(args.groups) * rows) return;
  merge_row<value_dim>(args, static_cast<int>(index / rows), static_cast<int>(index % rows));
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
    default:
      throw LaunchError("merge: value_dim must be 64 or 128");
  }
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
