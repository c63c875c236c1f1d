#include "kernels/pages/prefetch.cuh"
