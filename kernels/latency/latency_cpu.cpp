#include "kernels/latency/latency.cuh"
