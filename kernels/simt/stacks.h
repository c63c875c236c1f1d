#pragma once
#include <cstddef>

namespace kvsim::simt {

// Stacks for the fibers of one block: one mapping, a guard page below each stack, and tops spread
// over cache sets (page-aligned tops would all fall into the same ones).
class Stacks {
 public:
  explicit Stacks(std::size_t count);
  ~Stacks();
  Stacks(const Stacks&) = delete;
  Stacks& operator=(const Stacks&) = delete;

  std::size_t count() const { return count_; }
  void* top(std::size_t index) const;
  static std::size_t usable_bytes();
  void forget_frames();  // of fibers that never returned

 private:
  std::size_t count_;
  unsigned char* base_;
};

}  // namespace kvsim::simt
