#include "kernels/decode/variants.cuh"
