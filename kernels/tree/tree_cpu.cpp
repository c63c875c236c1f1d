#include "kernels/tree/tree.cuh"
