#include "kernels/gemm/gemm_e4m3.cuh"
