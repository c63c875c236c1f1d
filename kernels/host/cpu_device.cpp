#include <cstdlib>
#include <cstring>
#include <new>

#include "kernels/host/device.h"
#include "kernels/simt/executor.h"

namespace kvsim::kernels {
namespace {

// Memory is poisoned with 0xff bytes, so that what was never written reads as NaN.
class CpuDevice final : public Device {
 public:
  explicit CpuDevice(const CpuOptions& options)
      : executor_({.seed = options.schedule_seed,
                   .workers = options.workers,
                   .count_bytes = options.count_bytes}) {
    facts_.name = "cpu-simt";
  }

  Backend backend() const override { return Backend::cpu; }
  const DeviceFacts& facts() const override { return facts_; }
  Stream stream() override { return {&executor_}; }

  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    // The exact size, so that AddressSanitizer's red zone begins at the first byte beyond.
    if (posix_memalign(&memory, 256, bytes > 0 ? bytes : 1) != 0) throw std::bad_alloc();
    std::memset(memory, 0xff, bytes);
    if (auto* accounting = executor_.accounting(); accounting != nullptr)
      accounting->add_buffer(memory, bytes);
    return memory;
  }
  void* allocate_pinned(std::size_t bytes) override { return allocate(bytes); }
  void release(void* memory) noexcept override {
    if (auto* accounting = executor_.accounting(); accounting != nullptr)
      accounting->remove_buffer(memory);
    std::free(memory);
  }
  void upload(void* device, const void* host, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(device, host, bytes);
  }
  void download(void* host, const void* device, std::size_t bytes) override {
    if (bytes > 0) std::memcpy(host, device, bytes);
  }
  void fill(void* device, int byte, std::size_t bytes) override {
    std::memset(device, byte, bytes);
  }
  void synchronize() override {}

  void count_from_here() override {
    if (auto* accounting = executor_.accounting(); accounting != nullptr) accounting->clear();
  }
  std::optional<Touched> touched() const override {
    const auto* accounting = executor_.accounting();
    if (accounting == nullptr) return std::nullopt;
    const auto c = accounting->counts();
    return Touched{c.unique_read, c.unique_written, c.total_read, c.total_written,
                   c.unique_prefetched};
  }

 private:
  simt::Executor executor_;
  DeviceFacts facts_;
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(const CpuOptions& options) {
  return std::make_unique<CpuDevice>(options);
}

}  // namespace kvsim::kernels
