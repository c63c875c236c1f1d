#include "kernels/fill/fill.cuh"
