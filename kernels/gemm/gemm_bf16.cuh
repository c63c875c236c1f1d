#pragma once
#include "kernels/gemm/gemm_kernels.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

VariantList<GemmArgs<Bf16>> gemm_bf16_variants() { return gemm_variants_of<Bf16>(80); }

}  // namespace kvsim::kernels::KVSIM_BACKEND
