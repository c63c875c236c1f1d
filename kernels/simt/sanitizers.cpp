#include "kernels/simt/sanitizers.h"

#include <mutex>
#include <vector>

namespace kvsim::simt::sanitizers {
namespace {

struct Pool {
  std::mutex mutex;
  std::vector<void*> idle;
};

Pool& pool() {
  static Pool fibers;
  return fibers;
}

}  // namespace

void* borrow_fiber() {
  const std::lock_guard lock(pool().mutex);
  if (pool().idle.empty()) return __tsan_create_fiber(0);
  void* fiber = pool().idle.back();
  pool().idle.pop_back();
  return fiber;
}

void return_fiber(void* fiber) {
  const std::lock_guard lock(pool().mutex);
  pool().idle.push_back(fiber);
}

}  // namespace kvsim::simt::sanitizers
