#pragma once
#include <stdexcept>
#include <vector>

#include "kernels/device/global.h"

namespace kvsim::kernels {

// A launch that the backend refused; the text is the backend's own.
struct LaunchError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A variant that cannot run here, because a library is missing or does not know the shape; the
// text says why. It is no failure of the variant.
struct Unsupported : LaunchError {
  using LaunchError::LaunchError;
};

// What one launch used. Registers, local memory and residency are known on the GPU only (0 else).
struct LaunchFacts {
  int registers = 0, shared_bytes = 0, local_bytes = 0, blocks_per_sm = 0;
  Dim3 grid;
  unsigned threads = 0;
};

// Hears of every launch of this thread while it lives.
class LaunchRecord {
 public:
  LaunchRecord();
  ~LaunchRecord();
  LaunchRecord(const LaunchRecord&) = delete;
  LaunchRecord& operator=(const LaunchRecord&) = delete;

  static LaunchRecord* listening();  // null: nobody listens
  void add(const LaunchFacts& facts) { launches_.push_back(facts); }
  const std::vector<LaunchFacts>& launches() const { return launches_; }

 private:
  std::vector<LaunchFacts> launches_;
  LaunchRecord* outer_;
};

}  // namespace kvsim::kernels
