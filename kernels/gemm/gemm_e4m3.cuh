#pragma once
#include "kernels/gemm/gemm_kernels.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

VariantList<GemmArgs<E4m3>> gemm_e4m3_variants() { return gemm_variants_of<E4m3>(89); }

}  // namespace kvsim::kernels::KVSIM_BACKEND
