#include "kernels/prefill/prefill.cuh"
