#include "kernels/quantized/decode.cuh"
