#include "kernels/stream/read.cuh"
