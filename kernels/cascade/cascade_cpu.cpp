#include "kernels/cascade/cascade.cuh"
