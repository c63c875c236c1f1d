#include <cuda_runtime.h>

#include <string>

#include "kernels/device/gpu_launch.h"
#include "kernels/host/device.h"

namespace kvsim::kernels {

namespace gpu {

void check_cuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw LaunchError(std::string(what) + ": " + cudaGetErrorName(status) + ", " +
                      cudaGetErrorString(status));
}

}  // namespace gpu

namespace {

using gpu::check_cuda;

DeviceFacts read_facts(int device) {
  cudaDeviceProp p{};
  check_cuda(cudaGetDeviceProperties(&p, device), "device properties");
  DeviceFacts facts;
  facts.name = p.name;
  facts.cc_major = p.major, facts.cc_minor = p.minor;
  facts.sms = p.multiProcessorCount;
  facts.l2_bytes = p.l2CacheSize;
  facts.shared_optin = static_cast<int>(p.sharedMemPerBlockOptin);
  facts.memory_bytes = p.totalGlobalMem;
  facts.ecc = p.ECCEnabled != 0;
  int driver = 0;
  check_cuda(cudaDriverGetVersion(&driver), "driver version");
  facts.driver = std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10);
  check_cuda(cudaRuntimeGetVersion(&facts.runtime), "runtime version");
  return facts;
}

class GpuDevice final : public Device {
 public:
  GpuDevice() : facts_(read_facts(0)) {
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "stream");
  }
  ~GpuDevice() override { cudaStreamDestroy(stream_); }
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;

  Backend backend() const override { return Backend::gpu; }
  const DeviceFacts& facts() const override { return facts_; }
  Stream stream() override { return {stream_}; }

  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    check_cuda(cudaMalloc(&memory, bytes > 0 ? bytes : 1), "device memory");
    return memory;
  }
  void* allocate_pinned(std::size_t bytes) override {
    void* memory = nullptr;
    check_cuda(cudaMallocHost(&memory, bytes > 0 ? bytes : 1), "pinned memory");
    return memory;
  }
  void release(void* memory) noexcept override {
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) return;
    if (attributes.type == cudaMemoryTypeHost)
      cudaFreeHost(memory);
    else
      cudaFree(memory);
  }
  void upload(void* device, const void* host, std::size_t bytes) override {
    copy(device, host, bytes, "upload");
  }
  void download(void* host, const void* device, std::size_t bytes) override {
    copy(host, device, bytes, "download");
  }
  void fill(void* device, int byte, std::size_t bytes) override {
    check_cuda(cudaMemsetAsync(device, byte, bytes, stream_), "fill");
  }
  void synchronize() override { check_cuda(cudaStreamSynchronize(stream_), "kernel"); }

 private:
  void copy(void* to, const void* from, std::size_t bytes, const char* what) {
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream_), what);
    check_cuda(cudaStreamSynchronize(stream_), what);
  }

  DeviceFacts facts_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace

GpuOrReason make_gpu_device() {
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess)
    return {nullptr, std::string("no GPU: ") + cudaGetErrorString(status)};
  if (count == 0) return {nullptr, "no GPU in this machine"};
  return {std::make_unique<GpuDevice>(), ""};
}

}  // namespace kvsim::kernels
