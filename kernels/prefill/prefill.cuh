#pragma once
#include "kernels/prefill/flash.cuh"
#include "kernels/prefill/prefill_naive.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

inline bool flash_supports(const PrefillArgs& args) {
  return args.kv.head_dim == 64 || args.kv.head_dim == 128;
}

// The naive kernel is left out where it would take seconds.
inline bool prefill_naive_supports(const PrefillArgs& args) {
  const double queries = static_cast<double>(args.max_q_len) * args.sequences * args.q_heads;
  return args.kv.head_dim <= prefill_naive_threads &&
         queries * args.max_q_len <= static_cast<double>(1LL << 28);
}

VariantList<PrefillArgs> prefill_variants() {
  static const Variant<PrefillArgs> list[] = {
      {"naive", 80, true, launch_prefill_naive, prefill_naive_supports},
      {"mma_flash", 80, false, launch_flash<1>, flash_supports},
      {"mma_flash128", 80, false, launch_flash<2>, flash_supports},
  };
  return list;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
