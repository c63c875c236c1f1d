#include "kernels/host/device.h"

namespace kvsim::kernels {

GpuOrReason make_gpu_device() { return {nullptr, "this program was built without CUDA"}; }

}  // namespace kvsim::kernels
