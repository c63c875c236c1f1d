#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/device/global.h"

namespace kvsim::simt {
class Executor;
}

namespace kvsim::kernels {

enum class Backend { cpu, gpu };

// Unique and total bytes that kernels touched in the device's memory since the last
// count_from_here(). Prefetches are no reads; they are counted by lines.
struct Touched {
  std::uint64_t unique_read = 0, unique_written = 0, total_read = 0, total_written = 0;
  std::uint64_t unique_prefetched = 0;
};

// Facts of a device, as it reports them itself; sizes in bytes. The CPU backend has its name only.
struct DeviceFacts {
  std::string name, driver;
  int cc_major = 0, cc_minor = 0, sms = 0, runtime = 0, l2_bytes = 0, shared_optin = 0;
  std::uint64_t memory_bytes = 0;
  bool ecc = false;
};

// The memory and the queue of one backend. Calls are synchronous except launches, which run in the
// order they were queued on stream(). Errors of the backend: LaunchError.
class Device {
 public:
  virtual ~Device() = default;
  virtual Backend backend() const = 0;
  virtual const DeviceFacts& facts() const = 0;
  virtual Stream stream() = 0;
  virtual void* allocate(std::size_t bytes) = 0;         // device memory, aligned to 256 bytes
  virtual void* allocate_pinned(std::size_t bytes) = 0;  // host memory that kernels can reach
  virtual void release(void* memory) noexcept = 0;       // of either kind
  virtual void upload(void* device, const void* host, std::size_t bytes) = 0;
  virtual void download(void* host, const void* device, std::size_t bytes) = 0;
  virtual void fill(void* device, int byte, std::size_t bytes) = 0;
  virtual void synchronize() = 0;

  // Byte accounting; only the CPU backend has it.
  virtual void count_from_here() {}
  virtual std::optional<Touched> touched() const { return std::nullopt; }
};

// How the executor runs kernels; see kernels/simt/executor.h.
struct CpuOptions {
  std::uint64_t schedule_seed = 0;
  int workers = 1;
  bool count_bytes = false;
};
std::unique_ptr<Device> make_cpu_device(const CpuOptions& options);

// Null with a reason where there is no GPU, no driver, or the program was built without CUDA.
struct GpuOrReason {
  std::unique_ptr<Device> device;
  std::string reason;
};
GpuOrReason make_gpu_device();

}  // namespace kvsim::kernels
