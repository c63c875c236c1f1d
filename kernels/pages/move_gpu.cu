#include "kernels/pages/move.cuh"
