#pragma once
#include <span>
#include <utility>
#include <vector>

#include "kernels/host/device.h"

namespace kvsim::kernels {

// An array in a device's memory, released with this object. The device outlives it.
template <class T>
class Array {
 public:
  Array() = default;
  Array(Device& device, std::size_t count)
      : device_(&device), count_(count), data_(static_cast<T*>(device.allocate(bytes()))) {}
  Array(Device& device, std::span<const T> values) : Array(device, values.size()) {
    device.upload(data_, values.data(), bytes());
  }
  // In host memory that kernels can reach; filled and downloaded like the others.
  static Array pinned(Device& device, std::size_t count) {
    Array out;
    out.device_ = &device, out.count_ = count;
    out.data_ = static_cast<T*>(device.allocate_pinned(out.bytes()));
    return out;
  }
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Array() {
    if (data_ != nullptr) device_->release(data_);
  }

  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }
  Global<T> view() const { return {data_}; }

  void fill_bytes(int byte) { device_->fill(data_, byte, bytes()); }
  std::vector<T> download() const { return download(0, count_); }
  std::vector<T> download(std::size_t first, std::size_t count) const {
    std::vector<T> out(count);
    device_->download(out.data(), data_ + first, count * sizeof(T));
    return out;
  }

 private:
  void swap(Array& other) noexcept {
    std::swap(device_, other.device_), std::swap(count_, other.count_);
    std::swap(data_, other.data_);
  }

  Device* device_ = nullptr;
  std::size_t count_ = 0;
  T* data_ = nullptr;
};

}  // namespace kvsim::kernels
