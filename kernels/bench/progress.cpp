#include "kernels/bench/progress.h"

#include <time.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>

namespace kvsim::kernels::bench {
namespace {

std::atomic<std::int64_t> interrupted_ms = 0;  // 0 = not
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000 + 1;
}

// timeout(1) signals its child and then the child's group: the same interrupt, twice.
constexpr std::int64_t same_ms = 250;

void on_interrupt(int signal) {
  const std::int64_t now = now_ms();
  if (interrupted_ms == 0) {
    interrupted_ms = now;
  } else if (now - interrupted_ms > same_ms) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);  // delivered when this handler has returned
  }
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
}
bool interrupted() { return interrupted_ms != 0; }

void say(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

}  // namespace kvsim::kernels::bench
