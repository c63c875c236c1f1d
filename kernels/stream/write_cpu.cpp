#include "kernels/stream/write.cuh"
