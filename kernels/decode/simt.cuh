#pragma once
#include "kernels/attention/block_states.cuh"
#include "kernels/attention/paged_kv.cuh"
#include "kernels/decode/split.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr int simt_threads = 128;

// CUDA cores, split-KV. A team of dim / 8 lanes takes a token: each lane 16 bytes of the key, the
// dot products of `heads` query heads at once, summed by shuffles; K/V is read once for all of
// them. Teams keep their own softmax state and are merged at the end of the split. More heads than
// fit in registers go to further blocks (blockIdx.y), which find K/V in L2.
template <int dim, int heads>
__global__ void __launch_bounds__(simt_threads, 2) decode_simt(const DecodeArgs args) {
  constexpr int team_lanes = dim / 8, teams = simt_threads / team_lanes;
  constexpr int unroll = heads > 4 ? 2 : 4;
  KVSIM_SHARED(shared);
  const SplitRange range = split_of_block(args);
  const int first_head = static_cast<int>(blockIdx.y) * heads;
  const int real_heads = min_of(heads, args.merge.heads_per_group - first_head);
  const int thread = static_cast<int>(threadIdx.x);
  const int team = thread / team_lanes, lane = thread % team_lanes;

  float q[heads][8];
#pragma unroll
  for (int h = 0; h < heads; ++h) {
    Words4 words{};
    const std::int64_t row =
        static_cast<std::int64_t>(range.group) * args.merge.heads_per_group + first_head + h;
    if (h < real_heads) words = load(as<const Words4>(args.q + (row * dim + 8 * lane)));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      q[h][2 * i] = low_bf16(words.word[i]) * (args.scale * log2_e);
      q[h][2 * i + 1] = high_bf16(words.word[i]) * (args.scale * log2_e);
    }
  }

  float o[heads][8] = {};
  float m[heads], l[heads] = {};
#pragma unroll
  for (int h = 0; h < heads; ++h) m[h] = minus_infinity;
  for (int base = range.begin; base < range.end; base += teams * unroll) {
    Words4 k[unroll] = {}, v[unroll] = {};
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const int token = base + u * teams + team;
      if (token >= range.end) continue;
      const std::int64_t at =
          row_of_token(args.kv, args.log_page, range.sequence, range.kv_head, token) + 8 * lane;
      k[u] = load_stream(as<const Words4>(args.kv.keys + at));
      v[u] = load_stream(as<const Words4>(args.kv.values + at));
    }
    float score[heads][unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) {
      const bool exists = base + u * teams + team < range.end;
#pragma unroll
      for (int h = 0; h < heads; ++h) {
        float dot = 0;
#pragma unroll
        for (int i = 0; i < 4; ++i)
          dot += q[h][2 * i] * low_bf16(k[u].word[i]) + q[h][2 * i + 1] * high_bf16(k[u].word[i]);
        dot = lanes_sum<team_lanes>(dot);
        score[h][u] = exists ? dot : minus_infinity;
      }
    }
#pragma unroll
    for (int h = 0; h < heads; ++h) {
      float m_new = m[h];
#pragma unroll
      for (int u = 0; u < unroll; ++u) m_new = fmaxf(m_new, score[h][u]);
      const float down = rescale(m[h], m_new);
      m[h] = m_new;
      l[h] *= down;
#pragma unroll
      for (int d = 0; d < 8; ++d) o[h][d] *= down;
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        const float p = ex2(score[h][u] - finite_or_zero(m_new));
        l[h] += p;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          o[h][2 * i] += p * low_bf16(v[u].word[i]);
          o[h][2 * i + 1] += p * high_bf16(v[u].word[i]);
        }
      }
    }
  }

  const BlockStates states = block_states_at(shared, teams, heads, dim);
#pragma unroll
  for (int h = 0; h < heads; ++h) {
    const int at = team * heads + h;
    for (int d = 0; d < 8; ++d) states.o[at * states.stride + 8 * lane + d] = o[h][d];
    if (lane == 0) states.m[at] = m[h], states.l[at] = l[h];
  }
  __syncthreads();
  write_rows<dim>(states, args.merge, {range.group, first_head, real_heads, range.partial});
}

template <int dim, int heads>
void launch_simt_of(const DecodeArgs& args, Stream stream) {
  constexpr int teams = simt_threads / (dim / 8);
  const auto blocks = static_cast<unsigned>(args.merge.groups * args.merge.splits);
  const int tiles = (args.merge.heads_per_group + heads - 1) / heads;
  launch(decode_simt<dim, heads>, {blocks, static_cast<unsigned>(tiles)}, simt_threads,
         block_states_bytes(teams, heads, dim), stream, args);
}

template <int dim>
void launch_decode_simt(const DecodeArgs& args, Stream stream) {
  if (args.merge.groups == 0) return;
  if (args.merge.heads_per_group == 1)
    launch_simt_of<dim, 1>(args, stream);
  else if (args.merge.heads_per_group <= 4)
    launch_simt_of<dim, 4>(args, stream);
  else
    launch_simt_of<dim, 8>(args, stream);
  if (args.merge.splits > 1) launch_merge(args.merge, stream);
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
