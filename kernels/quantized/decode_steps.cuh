#pragma once
#include "kernels/quantized/residual.cuh"

// Split-KV decode on the tensor cores. A block takes one part of one (sequence, kv head); its four
// warps take steps of 16 or 32 tokens in turn, each by itself: no barrier and no shared memory
// until the states of the warps are added up. Codes wait in registers: the next step's keys are
// asked for when this step's are used up, and so the values, so loads are in flight all the time.
namespace kvsim::kernels::KVSIM_BACKEND {

constexpr unsigned decode_mma_threads = 128;
constexpr int decode_mma_warps = 4;

// Probabilities are held 2^12 times too large, so that f16 keeps those of 2^-26 to full precision;
// the maximum that the state reports is lower by as much.
constexpr float probability_shift = 12.0F;

// Physical pages of the runs of a step.
template <int pages>
struct StepPages {
  int page[pages];
};

// Keys or values of the pools.
template <KvFormat format>
struct PoolRows {
  using At = BlockAt;
  const QuantisedKv& kv;
  int sequence, head, end;

  // The run `r` of the step at a token; a run that does not exist is that of the first.
  __device__ __forceinline__ int page(int token, int r) const {
    return quantised_page_of(kv, sequence, token + 16 * r < end ? token + 16 * r : token);
  }
  __device__ __forceinline__ BlockAt keys(int page, int token) const {
    return block_at<format>(kv, kv.keys, page, head, token);
  }
  __device__ __forceinline__ BlockAt values(int page, int token) const {
    return block_at<format>(kv, kv.values, page, head, token);
  }
};

struct ResidualRows {
  using At = ResidualAt;
  Global<const Bf16> key, value;

  __device__ __forceinline__ int page(int, int) const { return 0; }
  __device__ __forceinline__ ResidualAt keys(int, int token) const {
    return {key + token * quantised_dim};
  }
  __device__ __forceinline__ ResidualAt values(int, int token) const {
    return {value + token * quantised_dim};
  }
};

template <class Fragments, class Rows>
__device__ __forceinline__ StepPages<Fragments::pages> pages_of(const Rows& rows, int token) {
  StepPages<Fragments::pages> out;
#pragma unroll
  for (int r = 0; r < Fragments::pages; ++r) out.page[r] = rows.page(token, r);
  return out;
}

template <class Fragments, class Rows>
__device__ __forceinline__ void load_keys(typename Fragments::Keys& keys, const Rows& rows,
                                          const StepPages<Fragments::pages>& here, int token,
                                          int valid) {
  typename Rows::At at[Fragments::pages];
#pragma unroll
  for (int r = 0; r < Fragments::pages; ++r) at[r] = rows.keys(here.page[r], token + 16 * r);
  keys.load_from(at, valid);
}

template <class Fragments, class Rows>
__device__ __forceinline__ void load_values(typename Fragments::Values& values, const Rows& rows,
                                            const StepPages<Fragments::pages>& here, int token,
                                            int valid) {
  typename Rows::At at[Fragments::pages];
#pragma unroll
  for (int r = 0; r < Fragments::pages; ++r) at[r] = rows.values(here.page[r], token + 16 * r);
  values.load_from(at, valid);
}

// Tokens first ... end - 1 in steps of the warp, whose state `me` is of either kind, WarpRows or
// WarpColumns. The page table is read two steps ahead, keys and values one.
template <class Fragments, class Warp, class Rows>
__device__ __forceinline__ void attend_steps(Warp& me, const Rows& rows, int first, int end) {
  constexpr int step = Fragments::step, stride = step * decode_mma_warps;
  int token = first + static_cast<int>(threadIdx.x) / 32 * step;
  if (token >= end) return;
  typename Fragments::Keys keys;
  typename Fragments::Values values;
  auto here = pages_of<Fragments>(rows, token);
  load_keys<Fragments>(keys, rows, here, token, end - token);
  load_values<Fragments>(values, rows, here, token, end - token);
  auto next = token + stride < end ? pages_of<Fragments>(rows, token + stride) : here;
  for (; token < end; token += stride) {
    const int ahead = token + stride;
    typename Warp::template Scores<step> scores;
    me.score(scores, keys);
    here = next;
    if (ahead < end) load_keys<Fragments>(keys, rows, here, ahead, end - ahead);
    if (ahead + stride < end) next = pages_of<Fragments>(rows, ahead + stride);
    typename Warp::template Probabilities<step> p;
    me.softmax(scores, p, end - token);
    me.add(p, values);
    if (ahead < end) load_values<Fragments>(values, rows, here, ahead, end - ahead);
  }
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
