#include "kernels/decode/mma_d64.cuh"
