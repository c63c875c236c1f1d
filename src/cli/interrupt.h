#pragma once
#include <atomic>
#include <exception>

namespace kvsim::cli {

// Thrown out of a command that the user interrupted (exit 130).
class Interrupted : public std::exception {};

// Installs the handlers: the first SIGINT or SIGTERM raises interrupt_flag(), a second one ends the
// process at once; a write to a closed pipe is an error code instead of a signal.
void watch_signals();

// Long commands look at this between steps (it may be read from any thread) and either stop with a
// partial result or call poll_interrupt().
const std::atomic<bool>& interrupt_flag();
void poll_interrupt();  // throws Interrupted when the flag is up

}  // namespace kvsim::cli
