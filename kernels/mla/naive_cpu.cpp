#include "kernels/mla/naive.cuh"
