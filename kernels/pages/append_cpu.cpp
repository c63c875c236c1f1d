#include "kernels/pages/append.cuh"
