#include "kernels/mla/variants.cuh"
