#include "kernels/simt/async.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "kernels/simt/block_runner.h"
#include "kernels/simt/fault.h"
#include "kernels/simt/sanitizers.h"

namespace kvsim::simt {
namespace {

bool aligned16(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

std::string text(Site site) { return std::string(site.file) + ":" + std::to_string(site.line); }

void land(const PendingCopy& copy) {
  sanitizers::note_write16(copy.shared);
  if (copy.global == nullptr) {
    std::memset(copy.shared, 0, 16);
    return;
  }
  sanitizers::note_read16(copy.global);
  std::memcpy(copy.shared, copy.global, 16);
}

}  // namespace

void async_copy16(void* shared, const void* global, bool valid, Site site) {
  if (!aligned16(shared) || (valid && !aligned16(global)))
    fail("cp.async of an address that is not aligned to 16 bytes at " + text(site));
  if (valid && current->accounting != nullptr) current->accounting->read(global, 16);
  Fiber& fiber = current->runner->fiber(current->index);
  fiber.copies.push_back({shared, valid ? global : nullptr});
}

void async_commit() {
  Fiber& fiber = current->runner->fiber(current->index);
  fiber.groups.push_back(fiber.copies.size());
}

void async_wait(unsigned groups_in_flight) {
  Fiber& fiber = current->runner->fiber(current->index);
  while (fiber.groups.size() - fiber.waited > groups_in_flight) {
    const std::size_t end = fiber.groups[fiber.waited++];
    while (fiber.landed < end) land(fiber.copies[fiber.landed++]);
  }
  if (fiber.waited == fiber.groups.size() && fiber.landed == fiber.copies.size()) {
    fiber.copies.clear();
    fiber.groups.clear();
    fiber.landed = fiber.waited = 0;
  }
}

void mbar_init(std::uint64_t* bar, unsigned arrivals, Site) {
  sanitizers::note_write8(bar);
  current->runner->init_mbarrier(bar, arrivals);
}

void mbar_arrive(std::uint64_t* bar, unsigned expect_bytes, Site site) {
  sanitizers::note_read8(bar);
  sanitizers::release(bar);
  current->runner->arrive_at_mbarrier(bar, 1, expect_bytes, site);
}

void mbar_wait(std::uint64_t* bar, unsigned parity, Site site) {
  sanitizers::note_read8(bar);
  current->runner->wait_at_mbarrier(bar, parity, site);
  sanitizers::acquire(bar);
}

void bulk_copy(void* shared, const void* global, unsigned bytes, std::uint64_t* bar, Site site) {
  if (!aligned16(shared) || !aligned16(global) || bytes % 16 != 0)
    fail("bulk copy whose addresses or size are not multiples of 16 at " + text(site));
  if (current->accounting != nullptr) current->accounting->read(global, bytes);
  sanitizers::note_read8(bar);
  current->runner->queue_bulk({shared, global, bytes, bar});
}

void BlockRunner::queue_bulk(const BulkCopy& copy) {
  sanitizers::release(&bulk_key_);
  bulk_.push_back(copy);
}

void BlockRunner::init_mbarrier(std::uint64_t* bar, unsigned arrivals) {
  const auto known = std::ranges::find(mbarriers_, bar, &Mbarrier::address);
  const Mbarrier fresh{bar, arrivals, arrivals, 0, 0};
  if (known != mbarriers_.end())
    *known = fresh;
  else
    mbarriers_.push_back(fresh);
}

Mbarrier& BlockRunner::mbarrier(std::uint64_t* bar, Site site) {
  const auto known = std::ranges::find(mbarriers_, bar, &Mbarrier::address);
  if (known == mbarriers_.end())
    fault("an mbarrier that was not initialised is used at " + text(site));
  return *known;
}

void BlockRunner::arrive_at_mbarrier(std::uint64_t* bar, unsigned arrivals, std::int64_t expect,
                                     Site site) {
  Mbarrier& m = mbarrier(bar, site);
  m.bytes += expect;
  if (m.pending < arrivals)
    fault("more arrivals than the mbarrier was initialised for at " + text(site));
  m.pending -= arrivals;
  if (m.pending == 0 && m.bytes == 0) complete_phase(m);
}

void BlockRunner::complete_phase(Mbarrier& bar) {
  bar.pending = bar.arrivals;
  bar.parity ^= 1U;
  for (unsigned lane = 0; lane < block_.threads; ++lane)
    if (const Waiting& w = fibers_[lane]->waiting; w.op == mbar_wait_op) make_ready(lane);
}

void BlockRunner::wait_at_mbarrier(std::uint64_t* bar, unsigned parity, Site site) {
  // The phase of `parity` is complete once the barrier is in the other one.
  while (mbarrier(bar, site).parity == (parity & 1U)) wait_here(mbar_wait_op, site, 0);
}

bool BlockRunner::land_bulk_copies() {
  if (bulk_.empty()) return false;
  for (const BulkCopy& copy : bulk_) {
    if (copy_engine_ != nullptr) {
      sanitizers::switch_to(copy_engine_);
      sanitizers::acquire(&bulk_key_);
      for (unsigned i = 0; i < copy.bytes; i += 16) {
        sanitizers::note_read16(static_cast<const char*>(copy.global) + i);
        sanitizers::note_write16(static_cast<char*>(copy.shared) + i);
      }
      sanitizers::release(copy.bar);
      sanitizers::switch_to(home_fiber_);
    }
    // In pieces of fixed size: a call of memcpy would count as an access of this thread.
    for (unsigned i = 0; i < copy.bytes; i += 16)
      std::memcpy(static_cast<char*>(copy.shared) + i, static_cast<const char*>(copy.global) + i,
                  16);
    const auto bar = std::ranges::find(mbarriers_, copy.bar, &Mbarrier::address);
    if (bar == mbarriers_.end()) continue;
    bar->bytes -= copy.bytes;
    if (bar->pending == 0 && bar->bytes == 0) complete_phase(*bar);
  }
  bulk_.clear();
  return true;
}

}  // namespace kvsim::simt
