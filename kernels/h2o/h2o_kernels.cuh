#pragma once
#include "kernels/h2o/h2o.h"
#include "kernels/h2o/naive.cuh"
#include "kernels/h2o/stash.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr unsigned accumulate_threads = 128;

// Four tokens per thread: their scores of every head become probabilities by the log-sum-exp.
__global__ void __launch_bounds__(accumulate_threads) h2o_accumulate(const H2oArgs args) {
  const int group = static_cast<int>(blockIdx.y);
  const int len = load(args.kv.lens + group / args.kv.kv_heads);
  const int first = static_cast<int>(blockIdx.x * accumulate_threads + threadIdx.x) * 4;
  if (first >= len) return;
  const int here = len - first < 4 ? len - first : 4;
  float mass[4] = {};
#pragma unroll 4
  for (int g = 0; g < args.heads_per_group; ++g) {
    const std::int64_t row = static_cast<std::int64_t>(group) * args.heads_per_group + g;
    const float lse = load(args.lse + row) * log2_e;
    const Global<const float> scores = args.scores + (row * args.stride + first);
    if (here == 4) {
      const Words4 four = load_stream(as<const Words4>(scores));
#pragma unroll
      for (int i = 0; i < 4; ++i) mass[i] += ex2(std::bit_cast<float>(four.word[i]) - lse);
    } else {
#pragma unroll
      for (int i = 0; i < 3; ++i)
        if (i < here) mass[i] += ex2(load(scores + i) - lse);
    }
  }
  const Global<float> to =
      args.accumulated + (static_cast<std::int64_t>(group) * args.stride + first);
  if (here == 4) {
    Words4 four = load(as<Words4>(to));
#pragma unroll
    for (int i = 0; i < 4; ++i)
      four.word[i] = std::bit_cast<std::uint32_t>(std::bit_cast<float>(four.word[i]) + mass[i]);
    store(as<Words4>(to), four);
  } else {
#pragma unroll
    for (int i = 0; i < 3; ++i)
      if (i < here) store(to + i, load(to + i) + mass[i]);
  }
}

inline void launch_h2o_stash(const H2oArgs& args, Stream stream) {
  const auto groups = static_cast<unsigned>(args.sequences * args.kv.kv_heads);
  if (groups == 0) return;
  StashArgs stash;
  stash.scores = args.scores;
  stash.stride = args.stride;
  stash.split_tokens = args.split_tokens;
  stash.decode.q = args.q;
  stash.decode.kv = args.kv;
  stash.decode.log_page = args.log_page;
  stash.decode.scale = args.scale_log2 * ln_2;
  MergeArgs& merge = stash.decode.merge;
  merge.partials = args.partials;
  merge.splits = args.splits;
  merge.groups = static_cast<int>(groups);
  merge.kv_heads = args.kv.kv_heads;
  merge.heads_per_group = args.heads_per_group;
  merge.value_dim = args.kv.head_dim;
  merge.out = args.out;
  merge.lse = args.lse;
  args.kv.head_dim == 64 ? launch_stash<64>(stash, stream) : launch_stash<128>(stash, stream);
  launch_merge(merge, stream);
  const unsigned per_block = accumulate_threads * 4;
  const unsigned blocks = (static_cast<unsigned>(args.stride) + per_block - 1) / per_block;
  if (blocks > 0) launch(h2o_accumulate, {blocks, groups}, accumulate_threads, 0, stream, args);
}

inline bool supports_stash(const H2oArgs& args) {
  return args.heads_per_group <= decode_max_group &&
         (args.kv.head_dim == 64 || args.kv.head_dim == 128);
}

VariantList<H2oArgs> h2o_variants() {
  static const Variant<H2oArgs> list[] = {
      {"recompute", 80, true, launch_h2o_naive},
      {"mma_stash", 80, false, launch_h2o_stash, supports_stash},
  };
  return list;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
