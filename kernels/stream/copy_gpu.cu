#include "kernels/stream/copy.cuh"
