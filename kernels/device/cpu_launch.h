#pragma once
#include <type_traits>

#include "kernels/device/global.h"
#include "kernels/host/launch_record.h"
#include "kernels/simt/executor.h"

// Runs kernels on the executor that the stream names. Throws simt::Fault.
namespace kvsim::kernels::cpu {

template <class Args>
void launch(void (*kernel)(Args), Dim3 grid, unsigned threads, unsigned shared_bytes, Stream stream,
            const std::type_identity_t<Args>& args) {
  if (LaunchRecord* record = LaunchRecord::listening(); record != nullptr)
    record->add({.shared_bytes = static_cast<int>(shared_bytes), .grid = grid, .threads = threads});
  struct Call {
    void (*kernel)(Args);
    const Args* args;
  };
  const Call call{kernel, &args};
  static_cast<simt::Executor*>(stream.handle)
      ->run(
          {grid.x, grid.y, grid.z}, threads, shared_bytes,
          [](const void* c) {
            const auto* bound = static_cast<const Call*>(c);
            bound->kernel(*bound->args);
          },
          &call);
}

}  // namespace kvsim::kernels::cpu
