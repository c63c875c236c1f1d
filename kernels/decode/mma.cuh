#pragma once
#include "kernels/attention/merge_row.cuh"
#include "kernels/decode/attend.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

// Whether this block wrote the last of its group's partials; then all of them are visible to it.
// The caller has a barrier between writing the partial and this.
__device__ __forceinline__ bool last_of_group(const DecodeArgs& args, int group,
                                              unsigned char* shared) {
  auto* last = reinterpret_cast<std::uint32_t*>(shared);
  if (threadIdx.x == 0) {
    const auto splits = static_cast<std::uint32_t>(args.merge.splits);
    *last = atomic_add(args.counters + group, 1U) == splits - 1U ? 1U : 0U;
    if (*last != 0U) store(args.counters + group, 0U);
  }
  __syncthreads();
  return *last != 0U;
}

// Without a plan a block is one split, and with counters the last block of a group merges it; with
// a plan it takes its segments one after another.
template <int dim, int log_page>
__global__ void __launch_bounds__(mma_warps * 32, mma_blocks_per_sm<dim>)
    decode_mma(const DecodeArgs args) {
  KVSIM_SHARED(shared);
  const bool planned = args.plan.runs > 0;
  int segment = planned ? load(args.plan.first + blockIdx.x) : 0;
  const int end = planned ? load(args.plan.first + (blockIdx.x + 1)) : 1;
  SplitRange range;
  for (; segment < end; ++segment) {
    range =
        planned ? split_of_segment(args, load(args.plan.segments + segment)) : split_of_block(args);
    attend<dim, log_page>(args, range, shared, IgnoreScores{});
    __syncthreads();  // the states in shared memory have been read
  }
  if (planned || !args.counters || range.partial < 0) return;
  if (!last_of_group(args, range.group, shared)) return;
  for (int row = static_cast<int>(threadIdx.x) / 32; row < args.merge.heads_per_group;
       row += mma_warps)
    merge_row<dim>(args.merge, range.group, row);
}

template <int dim, int log_page>
void launch_mma_page(const DecodeArgs& args, Stream stream) {
  const int blocks = args.plan.runs > 0 ? args.plan.runs : args.merge.groups * args.merge.splits;
  launch(decode_mma<dim, log_page>, {static_cast<unsigned>(blocks)}, mma_warps * 32,
         mma_shared_bytes<dim>, stream, args);
}

// The kernel alone, without the merge.
template <int dim>
void launch_decode_mma(const DecodeArgs& args, Stream stream) {
  switch (args.log_page) {
    case contiguous_kv:
      return launch_mma_page<dim, contiguous_kv>(args, stream);
    case 0:
      return launch_mma_page<dim, 0>(args, stream);
    case 4:
      return launch_mma_page<dim, 4>(args, stream);
    case 6:
      return launch_mma_page<dim, 6>(args, stream);
    case 7:
      return launch_mma_page<dim, 7>(args, stream);
    default:
      throw LaunchError("decode: pages have 1, 16, 64 or 128 tokens");
  }
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
