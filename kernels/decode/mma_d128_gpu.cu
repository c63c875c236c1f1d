#include "kernels/decode/mma_d128.cuh"
