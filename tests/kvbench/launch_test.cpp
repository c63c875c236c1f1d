#include <doctest/doctest.h>

#include <stdexcept>

#include "kernels/host/problem.h"

using namespace kvsim::kernels;

namespace {

// A device that refuses everything but launches while it is closed: timing captures Problem::launch
// into a graph, where an allocation or a copy would be an error or would be replayed.
class Closable final : public Device {
 public:
  bool closed = false;

  Backend backend() const override { return inner_->backend(); }
  const DeviceFacts& facts() const override { return inner_->facts(); }
  Stream stream() override { return inner_->stream(); }
  void* allocate(std::size_t bytes) override { return open("allocate").allocate(bytes); }
  void* allocate_pinned(std::size_t bytes) override {
    return open("allocate_pinned").allocate_pinned(bytes);
  }
  void release(void* memory) noexcept override {
    released_while_closed = released_while_closed || closed;
    inner_->release(memory);
  }
  void upload(void* device, const void* host, std::size_t bytes) override {
    open("upload").upload(device, host, bytes);
  }
  void download(void* host, const void* device, std::size_t bytes) override {
    open("download").download(host, device, bytes);
  }
  void fill(void* device, int byte, std::size_t bytes) override {
    open("fill").fill(device, byte, bytes);
  }
  void synchronize() override { open("synchronize").synchronize(); }
  bool released_while_closed = false;

 private:
  Device& open(const char* call) {
    if (closed) throw std::logic_error(std::string(call) + " inside a launch");
    return *inner_;
  }
  std::unique_ptr<Device> inner_ = make_cpu_device({});
};

}  // namespace

TEST_CASE("launches of every variant only queue kernels so that a graph can hold them") {
  Closable device;
  for (const Family& family : families())
    for (auto& problem : family.quick_cases()) {
      problem->prepare(device, 2, 3);
      const auto variants = problem->variants();
      for (std::size_t v = 0; v < variants.size(); ++v) {
        if (!variants[v].cpu) continue;
        CAPTURE(case_id(problem->info(), variants[v].name));
        device.closed = true;
        CHECK_NOTHROW(problem->launch(v, 1, device.stream()));
        device.closed = false;
        CHECK_FALSE(device.released_while_closed);
      }
      problem.reset();
    }
}
