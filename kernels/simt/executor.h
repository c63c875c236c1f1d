#pragma once
#include <cstdint>
#include <memory>

#include "kernels/simt/accounting.h"
#include "kernels/simt/lane.h"

namespace kvsim::simt {

struct Config {
  std::uint64_t seed = 0;  // 0: lanes, warps and blocks in order; else a permutation of each
  int workers = 1;         // OS threads; one under ThreadSanitizer and with count_bytes
  bool count_bytes = false;
};

// A launch: one block at a time per worker, one fiber per thread of the block, each running until
// it waits. Shared memory is a fresh arena per block, filled with 0xff bytes (NaN in every format).
// A kernel may not wait for another block.
class Executor {
 public:
  explicit Executor(const Config& config);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Calls body(args) once per thread. Returns when all blocks are done; throws Fault.
  using Body = void (*)(const void* args);
  void run(Index3 grid, unsigned threads, unsigned shared_bytes, Body body, const void* args);

  Accounting* accounting() { return config_.count_bytes ? &accounting_ : nullptr; }
  const Accounting* accounting() const { return config_.count_bytes ? &accounting_ : nullptr; }
  std::uint64_t lane_switches() const { return lane_switches_; }  // of all launches

 private:
  Config config_;
  Accounting accounting_;
  std::vector<std::unique_ptr<BlockRunner>> runners_;  // two per worker: see block_runner.h
  std::uint64_t lane_switches_ = 0, launches_ = 0;
};

}  // namespace kvsim::simt
