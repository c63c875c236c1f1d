#include "kernels/simt/block_runner.h"

#include <boost/context/detail/fcontext.hpp>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "kernels/numbers/noise.h"
#include "kernels/simt/fault.h"
#include "kernels/simt/sanitizers.h"

namespace kvsim::simt {
namespace {

namespace context = boost::context::detail;

// Shared memory of one block, filled with the poison.
class Arena {
 public:
  explicit Arena(std::size_t bytes)
      : memory_(std::aligned_alloc(128, std::max<std::size_t>(128, (bytes + 127) / 128 * 128))) {
    if (memory_ == nullptr) throw std::bad_alloc();
    if (bytes > 0) std::memset(memory_, 0xff, bytes);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  unsigned char* data() const { return static_cast<unsigned char*>(memory_); }
  void release() { std::free(memory_); }

 private:
  void* memory_;
};

void fiber_main(context::transfer_t from) {
  static_cast<BlockRunner*>(from.data)->enter_lane(from.fctx);
}

}  // namespace

constinit thread_local Lane* current = nullptr;

BlockRunner::BlockRunner() {
  if (sanitizers::thread_sanitizer()) {
    janitor_ = __tsan_create_fiber(0);
    copy_engine_ = __tsan_create_fiber(0);
  }
}

BlockRunner::~BlockRunner() {
  if (!sanitizers::thread_sanitizer()) return;
  for (const auto& fiber : fibers_) __tsan_destroy_fiber(fiber->tsan_fiber);
  __tsan_destroy_fiber(janitor_);
  __tsan_destroy_fiber(copy_engine_);
}

void BlockRunner::run(const Block& block) {
  block_ = block;
  if (sanitizers::thread_sanitizer()) home_fiber_ = __tsan_get_current_fiber();
  Arena arena(block.shared_bytes);
  reset(block);
  for (unsigned i = 0; i < block.threads; ++i) fibers_[i]->lane.shared = arena.data();
  sanitizers::release(&start_key_);
  schedule();
  if (sanitizers::thread_sanitizer()) {
    sanitizers::switch_to(janitor_);
    sanitizers::acquire(&end_key_);
    arena.release();
    sanitizers::switch_to(home_fiber_);
  } else {
    arena.release();
  }
  if (!fault_.empty()) {
    stacks_->forget_frames();
    throw Fault(std::exchange(fault_, ""));
  }
}

void BlockRunner::acquire_results() { sanitizers::acquire(&end_key_); }

void BlockRunner::reset(const Block& block) {
  while (fibers_.size() < block.threads) {
    fibers_.push_back(std::make_unique<Fiber>());
    if (sanitizers::thread_sanitizer()) fibers_.back()->tsan_fiber = __tsan_create_fiber(0);
  }
  if (stacks_ == nullptr || stacks_->count() < block.threads)
    stacks_ = std::make_unique<Stacks>(block.threads);
  warps_.resize((block.threads + 31) / 32);
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    Warp& warp = warps_[w];
    const unsigned lanes = std::min(32U, block.threads - static_cast<unsigned>(w) * 32U);
    warp.all = lanes == 32 ? 0xffffffffU : (1U << lanes) - 1U;
    warp.ready = warp.all;
    warp.done = 0;
    warp.open = 0;
  }
  for (unsigned i = 0; i < block.threads; ++i) {
    Fiber& fiber = *fibers_[i];
    fiber.lane = {.thread_idx = {i, 0, 0},
                  .block_idx = block.index,
                  .block_dim = {block.threads, 1, 1},
                  .grid_dim = block.grid,
                  .index = i,
                  .shared = nullptr,
                  .accounting = block.accounting,
                  .runner = this};
    fiber.context = context::make_fcontext(stacks_->top(i), Stacks::usable_bytes(), fiber_main);
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
    barrier.lanes.clear();
    barrier.lanes.reserve(block.threads);
  }
  // Grown by lanes: what is reserved here is not reallocated behind ThreadSanitizer's back.
  mbarriers_.clear();
  mbarriers_.reserve(64);
  bulk_.clear();
  bulk_.reserve(256);
  live_ = block.threads;
  exited_ = 0;
}

void BlockRunner::schedule() {
  std::vector<unsigned> order(warps_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::uint64_t draw = 0;
  const auto random = [&](std::size_t below) {
    return static_cast<unsigned>(kernels::noise_bits(block_.seed, draw++) % below);
  };
  while (live_ > 0 && fault_.empty()) {
    if (block_.seed != 0)
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random(i)]);
    bool progress = false;
    for (const unsigned w : order) {
      Warp& warp = warps_[w];
      const unsigned turn = block_.seed != 0 ? random(32) : 0;
      while (warp.ready != 0 && fault_.empty()) {
        // The first ready lane at or after `turn`, cyclically.
        const std::uint32_t rotated =
            warp.ready >> turn | (turn != 0 ? warp.ready << (32 - turn) : 0);
        const unsigned lane = (static_cast<unsigned>(__builtin_ctz(rotated)) + turn) % 32;
        warp.ready &= ~(1U << lane);
        progress = true;
        resume(w * 32 + lane);
      }
    }
    if (!progress && !land_bulk_copies()) fault_ = deadlock_report();
  }
}

void BlockRunner::resume(unsigned lane) {
  Fiber& fiber = *fibers_[lane];
  fiber.waiting = {};
  ++switches_;
  current = &fiber.lane;
  if (fiber.tsan_fiber != nullptr) sanitizers::switch_to(fiber.tsan_fiber);
  const context::transfer_t back = context::jump_fcontext(fiber.context, this);
  if (fiber.tsan_fiber != nullptr) sanitizers::switch_to(home_fiber_);
  fiber.context = back.fctx;
  current = nullptr;
}

void BlockRunner::enter_lane(void* scheduler) {
  scheduler_ = scheduler;
  const unsigned lane = current->index;
  sanitizers::acquire(&start_key_);
  block_.body(block_.args);
  sanitizers::release(&end_key_);
  lane_done(lane);
  context::jump_fcontext(scheduler_, nullptr);
}

void BlockRunner::wait_here(const char* op, Site site, std::uint32_t mask) {
  Fiber& fiber = *fibers_[current->index];
  fiber.waiting = {op, site, mask};
  scheduler_ = context::jump_fcontext(scheduler_, nullptr).fctx;
}

void BlockRunner::lane_done(unsigned lane) {
  fibers_[lane]->done = true;
  warps_[lane / 32].done |= 1U << (lane % 32);
  --live_;
  ++exited_;
  const Barrier& barrier = barriers_[0];
  if (barrier.arrived > 0)
    fault_ = where() + ": thread " + std::to_string(lane) + " exits while " +
             std::to_string(barrier.arrived) + " others wait at __syncthreads at " +
             barrier.site.file + ":" + std::to_string(barrier.site.line);
}

void BlockRunner::fault(const std::string& report) {
  fault_ = where() + ", thread " + std::to_string(current->index) + ": " + report;
  for (;;) wait_here("fault", {"", 0}, 0);
}

void fail(const std::string& report) { current->runner->fault(report); }

}  // namespace kvsim::simt
