#include "kernels/quantized/quantise.cuh"
