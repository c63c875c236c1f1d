#include "kernels/h2o/compact.cuh"
