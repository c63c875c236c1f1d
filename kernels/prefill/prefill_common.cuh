#pragma once
#include "kernels/attention/paged_kv.cuh"
#include "kernels/attention/softmax.cuh"
#include "kernels/device/kv_device.h"
#include "kernels/prefill/prefill.h"

namespace kvsim::kernels::KVSIM_BACKEND {

// The queries and the tokens of one sequence.
struct PrefillSpan {
  int first_query, queries;  // queries of all sequences before it; its own
  int tokens;                // of its cache

  // How many tokens query `query` of the sequence sees.
  __device__ __forceinline__ int visible(int query, Mask mask) const {
    if (mask == Mask::none) return tokens;
    const int seen = tokens - queries + query + 1;
    return seen < 0 ? 0 : (seen < tokens ? seen : tokens);
  }
};

__device__ __forceinline__ PrefillSpan prefill_span(const PrefillArgs& args, int sequence) {
  const int first = load(args.q_start + sequence);
  return {first, load(args.q_start + (sequence + 1)) - first, load(args.kv.lens + sequence)};
}

// Row of q, out (times head_dim) and lse.
__device__ __forceinline__ std::int64_t prefill_row(const PrefillArgs& args, std::int64_t query,
                                                    int head) {
  return query * args.q_heads + head;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
