#pragma once
#include <cuda_runtime.h>

#include <type_traits>

#include "kernels/device/global.h"
#include "kernels/host/launch_record.h"

// Queues kernels on the GPU.
namespace kvsim::kernels::gpu {

// Throws LaunchError with CUDA's words.
void check_cuda(cudaError_t status, const char* what);

template <class Args>
void launch(void (*kernel)(Args), Dim3 grid, unsigned threads, unsigned shared_bytes, Stream stream,
            const std::type_identity_t<Args>& args) {
  const auto* function = reinterpret_cast<const void*>(kernel);
  if (shared_bytes > 48U * 1024U)
    check_cuda(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_bytes)),
               "shared memory");
  if (LaunchRecord* record = LaunchRecord::listening(); record != nullptr) {
    cudaFuncAttributes attributes{};
    check_cuda(cudaFuncGetAttributes(&attributes, function), "kernel attributes");
    int blocks = 0;
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                   &blocks, function, static_cast<int>(threads), shared_bytes),
               "occupancy");
    record->add({.registers = attributes.numRegs,
                 .shared_bytes = static_cast<int>(shared_bytes),
                 .local_bytes = static_cast<int>(attributes.localSizeBytes),
                 .blocks_per_sm = blocks,
                 .grid = grid,
                 .threads = threads});
  }
  Args copy = args;
  void* arguments[] = {&copy};
  check_cuda(cudaLaunchKernel(function, dim3(grid.x, grid.y, grid.z), dim3(threads), arguments,
                              shared_bytes, static_cast<cudaStream_t>(stream.handle)),
             "launch");
}

}  // namespace kvsim::kernels::gpu
