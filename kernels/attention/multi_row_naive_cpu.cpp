#include "kernels/attention/multi_row_naive.cuh"
