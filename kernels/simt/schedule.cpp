#include <bit>

#include "kernels/numbers/noise.h"
#include "kernels/simt/block_runner.h"
#include "kernels/simt/sanitizers.h"

// Which lane runs next. A lane that waits hands over to the next ready lane of its warp directly;
// the scheduler on the OS thread's own stack only chooses among warps.
namespace kvsim::simt {

unsigned BlockRunner::random(std::size_t below) {
  return static_cast<unsigned>(kernels::noise_bits(block_.seed, draws_++) % below);
}

bool BlockRunner::lands_early() { return block_.seed != 0 && random(2) == 0; }

// The first ready lane at or after the warp's turn, cyclically. There must be one.
Fiber& BlockRunner::next_ready(unsigned warp_index) {
  Warp& warp = warps_[warp_index];
  const std::uint32_t rotated = std::rotr(warp.ready, static_cast<int>(warp.turn));
  const unsigned lane = (static_cast<unsigned>(std::countr_zero(rotated)) + warp.turn) % 32;
  warp.ready &= ~(1U << lane);
  return *fibers_[warp_index * 32 + lane];
}

void BlockRunner::schedule() {
  const auto warps = static_cast<unsigned>(warps_.size());
  std::array<unsigned, max_threads / 32> order;
  for (unsigned w = 0; w < warps; ++w) order[w] = w;
  while (live_ > 0 && !faulted_) {
    if (block_.seed != 0)
      for (unsigned i = warps; i > 1; --i) std::swap(order[i - 1], order[random(i)]);
    bool progress = false;
    for (unsigned i = 0; i < warps; ++i) {
      Warp& warp = warps_[order[i]];
      if (warp.ready == 0 || faulted_) continue;
      progress = true;
      warp.turn = block_.seed != 0 ? random(32) : 0;
      resume(next_ready(order[i]));
    }
    if (!progress && !land_bulk_copies()) {
      faulted_ = true;
      fault_ = deadlock_report();
    }
  }
}

// Runs the lane and those it hands over to, until none of the warp is ready.
void BlockRunner::resume(Fiber& fiber) {
  ++switches_;
  current = &fiber;
  if (fiber.tsan_fiber != nullptr) sanitizers::switch_to(fiber.tsan_fiber);
  switch_context(scheduler_, fiber.context);
  current = nullptr;
}

void BlockRunner::wait_here(const char* op, Site site, std::uint32_t mask) {
  Fiber& fiber = self();
  fiber.waiting = {op, site, mask};
  leave(fiber);
  fiber.waiting.op = nullptr;
}

void BlockRunner::leave(Fiber& fiber) {
  const unsigned warp = fiber.index / 32;
  if (warps_[warp].ready != 0 && !faulted_) {
    Fiber& next = next_ready(warp);
    ++switches_;
    current = &next;
    if (next.tsan_fiber != nullptr) sanitizers::switch_to(next.tsan_fiber);
    switch_context(fiber.context, next.context);
  } else {
    if (fiber.tsan_fiber != nullptr) sanitizers::switch_to(home_fiber_);
    switch_context(fiber.context, scheduler_);
  }
}

}  // namespace kvsim::simt
