#include "kernels/attention/merge.cuh"
