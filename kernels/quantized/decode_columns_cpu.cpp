#include "kernels/quantized/decode_columns.cuh"
