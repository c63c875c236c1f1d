#pragma once
#include "kernels/device/cpu_async.h"
#include "kernels/device/cpu_launch.h"
#include "kernels/device/cpu_matrix.h"
#include "kernels/device/cpu_memory.h"
#include "kernels/device/cpu_thread.h"
