#pragma once
#include <stdexcept>
#include <string>

namespace kvsim::simt {

// A kernel broke a rule of the programming model: divergent barrier, deadlock, absent lane, address
// outside every buffer. The text names block, threads, operation, file and line. Thrown by
// Executor::run on the thread that launched; the kernel's other blocks did not finish.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Ends the launch from inside a lane. Does not return to the kernel.
[[noreturn]] void fail(const std::string& report);

}  // namespace kvsim::simt
