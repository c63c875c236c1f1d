#pragma once
#include <cuda_runtime.h>

#include "kernels/device/gpu_async.h"
#include "kernels/device/gpu_launch.h"
#include "kernels/device/gpu_matrix.h"
#include "kernels/device/gpu_memory.h"
