#include "kernels/simt/stacks.h"

#include <sys/mman.h>

#include <new>

#include "kernels/simt/sanitizers.h"

namespace kvsim::simt {
namespace {

constexpr std::size_t guard = 4096;
// Instrumented frames are several times larger than plain ones.
constexpr std::size_t stack_bytes = 256 * 1024;
constexpr std::size_t stride = 320, spread = 8192;

}  // namespace

Stacks::Stacks(std::size_t count) : count_(count) {
  void* memory = mmap(nullptr, count * stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<unsigned char*>(memory);
  for (std::size_t i = 0; i < count; ++i)
    if (mprotect(base_ + i * stack_bytes, guard, PROT_NONE) != 0) {
      munmap(base_, count * stack_bytes);
      throw std::bad_alloc();
    }
}

Stacks::~Stacks() { munmap(base_, count_ * stack_bytes); }

void* Stacks::top(std::size_t index) const {
  return base_ + (index + 1) * stack_bytes - (index * stride) % spread;
}

std::size_t Stacks::usable_bytes() { return stack_bytes - guard - spread; }

void Stacks::forget_frames() {
  for (std::size_t i = 0; i < count_; ++i)
    sanitizers::forget_frames(base_ + i * stack_bytes + guard, stack_bytes - guard);
}

}  // namespace kvsim::simt
