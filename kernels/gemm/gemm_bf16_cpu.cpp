#include "kernels/gemm/gemm_bf16.cuh"
