#include "kernels/attention/multi_row.cuh"
