#pragma once
#include <cstdint>

#include "kernels/host/array.h"

namespace kvsim::kernels {

// A pointer chase over `bytes` of device memory, a power of two of at least 128: the time of a walk
// over its steps is the latency of the level of memory that holds so many bytes. Walks continue
// where the last one ended, so that a buffer larger than a cache is never found in it.
class PointerChase {
 public:
  PointerChase(Device& device, std::int64_t bytes);

  void walk(int steps, Stream stream);
  void forget_position() { ends_.fill_bytes(0xff); }

  // The lines between which the last walk went, as the kernel wrote them.
  struct Ends {
    std::uint32_t first, last;
  };
  Ends ends() const;
  std::uint32_t lines() const { return lines_; }

 private:
  Device* device_;
  std::uint32_t lines_;
  Array<std::uint32_t> buffer_, ends_;
};

}  // namespace kvsim::kernels
