#include "kernels/gemm/mma_peak.cuh"
