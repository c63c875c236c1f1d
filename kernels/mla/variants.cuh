#pragma once
#include "kernels/mla/merge.cuh"
#include "kernels/mla/mma.cuh"
#include "kernels/mla/simt.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

inline bool at_most_32_rows(const MlaArgs& a) { return a.rows() <= 32; }
inline bool from_17_to_64_rows(const MlaArgs& a) { return a.rows() > 16 && a.rows() <= 64; }
inline bool above_32_rows(const MlaArgs& a) { return a.rows() > 32; }

// The rings need more shared memory per block than GPUs before 9.0 have.
VariantList<MlaArgs> mla_variants() {
  static const Variant<MlaArgs> list[] = {
      {"simt", 80, true, launch_mla_simt},
      {"mma16_cpasync", 90, false, launch_mla_mma<1, MlaAsyncLoader>, at_most_32_rows},
      {"mma32_cpasync", 90, false, launch_mla_mma<2, MlaAsyncLoader>, from_17_to_64_rows},
      {"mma64_cpasync", 90, false, launch_mla_mma<4, MlaAsyncLoader>, above_32_rows},
      {"mma16_bulk", 90, false, launch_mla_mma<1, MlaBulkLoader>, at_most_32_rows},
      {"mma32_bulk", 90, false, launch_mla_mma<2, MlaBulkLoader>, from_17_to_64_rows},
      {"mma64_bulk", 90, false, launch_mla_mma<4, MlaBulkLoader>, above_32_rows},
  };
  return list;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
