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

void* borrow_fiber(const char* name) {
  const std::lock_guard lock(pool().mutex);
  void* fiber = nullptr;
  if (pool().idle.empty()) {
    fiber = __tsan_create_fiber(0);
  } else {
    fiber = pool().idle.back();
    pool().idle.pop_back();
  }
  if (&__tsan_set_fiber_name != nullptr) __tsan_set_fiber_name(fiber, name);
  return fiber;
}

void return_fiber(void* fiber) {
  const std::lock_guard lock(pool().mutex);
  pool().idle.push_back(fiber);
}

}  // namespace kvsim::simt::sanitizers
