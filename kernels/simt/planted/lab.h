#pragma once
#include <string>
#include <vector>

#include "kernels/device/cpu_launch.h"
#include "kernels/host/array.h"
#include "kernels/simt/fault.h"

// Small kernels for the executor's own tests, and what runs them.
namespace kvsim::kernels {

struct LabArgs {
  Global<const float> in;
  Global<float> out;
  Global<unsigned> counter;
  Global<int> lines;  // where the kernel's text stands, written by at()
  int choice = 0;
};

// 4096 inputs of 1, 2, 3, ... (or what the test gives), poisoned outputs.
class Lab {
 public:
  explicit Lab(const CpuOptions& options = {}) : Lab(options, counting()) {}
  Lab(const CpuOptions& options, const std::vector<float>& inputs)
      : device_(make_cpu_device(options)),
        in_(*device_, std::span<const float>(inputs)),
        out_(*device_, inputs.size()),
        counter_(*device_, std::vector<unsigned>(4, 0)),
        lines_(*device_, 8) {}

  struct Shape {
    unsigned threads = 32, shared_bytes = 0, blocks = 1;
    int choice = 0;
  };
  // The text of the fault, or "".
  std::string run(void (*kernel)(LabArgs), const Shape& shape) {
    try {
      cpu::launch(kernel, {shape.blocks}, shape.threads, shape.shared_bytes, device_->stream(),
                  {in_.view(), out_.view(), counter_.view(), lines_.view(), shape.choice});
    } catch (const simt::Fault& fault) {
      return fault.what();
    }
    return "";
  }

  Device& device() { return *device_; }
  std::vector<float> out() const { return out_.download(); }
  std::vector<unsigned> counter() const { return counter_.download(); }
  // "faults.cuh:12", the end of the place that the kernel noted as `index`.
  std::string place(std::size_t index, const std::string& file = "faults.cuh") const {
    return "simt/planted/" + file + ":" + std::to_string(lines_.download(index, 1)[0]);
  }

 private:
  static std::vector<float> counting() {
    std::vector<float> values(4096);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
    return values;
  }

  std::unique_ptr<Device> device_;
  Array<float> in_, out_;
  Array<unsigned> counter_;
  Array<int> lines_;
};

}  // namespace kvsim::kernels
