#include "kernels/quantized/decode_rows.cuh"
