#include "kernels/decode/bulk.cuh"
