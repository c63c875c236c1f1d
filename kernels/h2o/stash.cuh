#pragma once
#include "kernels/decode/attend.cuh"
#include "kernels/h2o/h2o.h"

// Decode on tensor cores that leaves its scores in global memory.
namespace kvsim::kernels::KVSIM_BACKEND {

struct StashArgs {
  DecodeArgs decode;
  Global<float> scores;  // [sequence][query head][stride] in base 2
  int stride = 0, split_tokens = 64;
};

// Leaves the scores of real heads and tokens in global memory, two neighbours in one store.
struct StashScores {
  const StashArgs& args;
  const SplitRange& range;

  __device__ __forceinline__ void operator()(int tile, const float (&s)[2][4]) const {
    const int lane = static_cast<int>(threadIdx.x) % 32, heads = args.decode.merge.heads_per_group;
    const float scale = args.decode.scale * log2_e;
    const std::int64_t first_row = static_cast<std::int64_t>(range.group) * heads;
#pragma unroll
    for (int n = 0; n < 2; ++n)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int token = tile + n * 8 + lane % 4 * 2, head = lane / 4 + 8 * half;
        if (head >= heads || token >= range.end) continue;
        const float left = s[n][2 * half] * scale, right = s[n][2 * half + 1] * scale;
        const Global<float> to = args.scores + ((first_row + head) * args.stride + token);
        if (token + 1 < range.end)
          store(as<std::uint64_t>(to),
                std::bit_cast<std::uint32_t>(left) |
                    static_cast<std::uint64_t>(std::bit_cast<std::uint32_t>(right)) << 32);
        else
          store(to, left);
      }
  }
};

// Block (x, y) is split x of (sequence, kv head) y, always a partial of its own.
template <int dim>
__global__ void __launch_bounds__(mma_warps * 32, mma_blocks_per_sm<dim>)
    h2o_stash(const StashArgs args) {
  KVSIM_SHARED(shared);
  const PagedKv& kv = args.decode.kv;
  const int group = static_cast<int>(blockIdx.y), sequence = group / kv.kv_heads;
  const int begin = static_cast<int>(blockIdx.x) * args.split_tokens;
  const SplitRange range{group,
                         sequence,
                         group % kv.kv_heads,
                         begin,
                         min_of(begin + args.split_tokens, load(kv.lens + sequence)),
                         static_cast<std::int64_t>(group) * args.decode.merge.splits + blockIdx.x};
  attend<dim, any_page>(args.decode, range, shared, StashScores{args, range});
}

template <int dim>
void launch_stash(const StashArgs& args, Stream stream) {
  const auto& merge = args.decode.merge;
  launch(h2o_stash<dim>, {static_cast<unsigned>(merge.splits), static_cast<unsigned>(merge.groups)},
         mma_warps * 32, mma_shared_bytes<dim>, stream, args);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
