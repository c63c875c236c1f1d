#include "kernels/bench/progress.h"

#include <csignal>
#include <cstdio>

namespace kvsim::kernels::bench {
namespace {

volatile std::sig_atomic_t signalled = 0;

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, [](int) { signalled = 1; });
}
bool interrupted() { return signalled != 0; }

void say(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

}  // namespace kvsim::kernels::bench
