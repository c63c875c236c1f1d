#pragma once
#include <cstdint>
#include <vector>

#include "kernels/simt/context.h"
#include "kernels/simt/lane.h"

namespace kvsim::simt {

// What a lane waits for, for reports.
struct Waiting {
  const char* op = nullptr;  // null: it runs or is done
  Site site{};
  std::uint32_t mask = 0;
};

struct PendingCopy {
  void* shared;
  const void* global;  // null: zeros
};

// Where a committed group of copies ends. A type of the executor's own: the code of a standard
// vector of numbers could come from an instrumented object of the same program.
struct GroupEnd {
  std::size_t copies;
};

// The fiber of one thread of the block.
struct Fiber : Lane {
  Context context = nullptr;
  void* tsan_fiber = nullptr;
  Waiting waiting;
  bool done = false;
  std::vector<PendingCopy> copies;  // issued by cp.async, in order; [0, landed) are done
  std::vector<GroupEnd> groups;     // [0, waited) are done
  std::size_t landed = 0, waited = 0;
};

}  // namespace kvsim::simt
