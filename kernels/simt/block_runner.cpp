#include "kernels/simt/block_runner.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "kernels/numbers/noise.h"
#include "kernels/simt/fault.h"
#include "kernels/simt/sanitizers.h"

namespace kvsim::simt {
namespace {

// Shared memory of one block, filled with the poison. It has the exact size, so that
// AddressSanitizer's red zone begins at the first byte beyond.
unsigned char* make_arena(std::size_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, 128, bytes > 0 ? bytes : 1) != 0) throw std::bad_alloc();
  if (bytes > 0) std::memset(memory, 0xff, bytes);
  return static_cast<unsigned char*>(memory);
}

void run_current_lane() { current->runner->enter_lane(); }

}  // namespace

constinit thread_local Lane* current = nullptr;

BlockRunner::BlockRunner() {
  if (sanitizers::thread_sanitizer()) {
    janitor_ = sanitizers::borrow_fiber("end of the block");
    copy_engine_ = sanitizers::borrow_fiber("bulk copies");
  }
}

BlockRunner::~BlockRunner() {
  if (!sanitizers::thread_sanitizer()) return;
  for (const auto& fiber : fibers_) sanitizers::return_fiber(fiber->tsan_fiber);
  sanitizers::return_fiber(janitor_);
  sanitizers::return_fiber(copy_engine_);
}

void BlockRunner::run(const Block& block) {
  block_ = block;
  if (sanitizers::thread_sanitizer()) home_fiber_ = __tsan_get_current_fiber();
  arena_ = make_arena(block.shared_bytes);
  reset(block);
  sanitizers::release(&start_key_);
  schedule();
  if (!faulted_ && !bulk_.empty())
    fault_ = where() + ": ends with " + std::to_string(bulk_.size()) +
             " bulk copies for which nobody waited";
  if (sanitizers::thread_sanitizer()) {
    sanitizers::switch_to(janitor_);
    sanitizers::acquire(&end_key_);
    std::free(arena_);
    sanitizers::switch_to(home_fiber_);
  } else {
    std::free(arena_);
  }
  if (!fault_.empty()) {
    stacks_->forget_frames();
    acquire_results();
    throw Fault(std::exchange(fault_, ""));
  }
}

void BlockRunner::acquire_results() { sanitizers::acquire(&end_key_); }

void BlockRunner::reset(const Block& block) {
  while (fibers_.size() < block.threads) {
    const std::string name = "CUDA thread " + std::to_string(fibers_.size());
    fibers_.push_back(std::make_unique<Fiber>());
    if (sanitizers::thread_sanitizer())
      fibers_.back()->tsan_fiber = sanitizers::borrow_fiber(name.c_str());
  }
  if (stacks_ == nullptr || stacks_->count() < block.threads)
    stacks_ = std::make_unique<Stacks>(block.threads);
  warps_.resize((block.threads + 31) / 32);
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    Warp& warp = warps_[w];
    const unsigned lanes = std::min(32U, block.threads - static_cast<unsigned>(w) * 32U);
    warp.all = lanes == 32 ? 0xffffffffU : (1U << lanes) - 1U;
    warp.ready = warp.all;
    warp.open = 0;
    warp.meetings[0].arrived = 0;
  }
  for (unsigned i = 0; i < block.threads; ++i) {
    Fiber& fiber = *fibers_[i];
    static_cast<Lane&>(fiber) = {.thread_idx = {i, 0, 0},
                                 .block_idx = block.index,
                                 .block_dim = {block.threads, 1, 1},
                                 .grid_dim = block.grid,
                                 .index = i,
                                 .shared = arena_,
                                 .accounting = block.accounting,
                                 .runner = this};
    fiber.context = make_context(stacks_->top(i), Stacks::usable_bytes(), run_current_lane);
    fiber.done = false;
    fiber.waiting = {};
    fiber.copies.clear();
    fiber.groups.clear();
    fiber.landed = fiber.waited = 0;
    fiber.copies.reserve(64);
    fiber.groups.reserve(64);
  }
  for (Barrier& barrier : barriers_) {
    barrier.arrived = 0;
    barrier.lanes.fill(0);
  }
  // Grown by lanes: what is reserved here is not reallocated behind ThreadSanitizer's back.
  mbarriers_.clear();
  mbarriers_.reserve(64);
  bulk_.clear();
  bulk_.reserve(256);
  live_ = block.threads;
  exited_ = 0;
  draws_ = 0;
  faulted_ = false;
}

void BlockRunner::enter_lane() {
  Fiber& fiber = self();
  sanitizers::acquire(&start_key_);
  block_.body(block_.args);
  sanitizers::release(&end_key_);
  lane_done(fiber);
  leave(fiber);
  std::abort();  // a lane that is done does not run again
}

void BlockRunner::lane_done(Fiber& fiber) {
  fiber.done = true;
  --live_;
  ++exited_;
  const Barrier& barrier = barriers_[0];
  if (barrier.arrived == 0) return;
  faulted_ = true;
  fault_ = where() + ": thread " + std::to_string(fiber.index) + " exits while " +
           std::to_string(barrier.arrived) + " others wait at __syncthreads at " +
           barrier.site.file + ":" + std::to_string(barrier.site.line);
}

void BlockRunner::fault(const std::string& report) {
  faulted_ = true;
  fault_ = where() + ", thread " + std::to_string(current->index) + ": " + report;
  sanitizers::release(&end_key_);  // the launching thread reads the text
  for (;;) wait_here("fault", {"", 0}, 0);
}

void BlockRunner::require_shared(const void* start, std::size_t bytes, const char* op, Site site) {
  const auto at = reinterpret_cast<std::uintptr_t>(start);
  const auto begin = reinterpret_cast<std::uintptr_t>(arena_);
  if (at >= begin && at + bytes <= begin + block_.shared_bytes) return;
  fault(std::string(op) + " of " + std::to_string(bytes) +
        " bytes outside the block's shared memory at " + site.file + ":" +
        std::to_string(site.line) + ": " + std::to_string(static_cast<std::int64_t>(at - begin)) +
        " bytes from its start, of " + std::to_string(block_.shared_bytes));
}

void fail(const std::string& report) { current->runner->fault(report); }

}  // namespace kvsim::simt
