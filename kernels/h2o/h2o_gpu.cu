#include "kernels/h2o/h2o_kernels.cuh"
