#include "cli/interrupt.h"

#include <csignal>

namespace kvsim::cli {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

void raise_flag(int) { interrupted.store(true, std::memory_order_relaxed); }

}  // namespace

void watch_signals() {
  struct sigaction action {};
  action.sa_handler = raise_flag;
  // Reset: the second signal has its default effect. No restart: a read from a terminal wakes up.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

const std::atomic<bool>& interrupt_flag() { return interrupted; }

void poll_interrupt() {
  if (interrupted.load(std::memory_order_relaxed)) throw Interrupted{};
}

}  // namespace kvsim::cli
