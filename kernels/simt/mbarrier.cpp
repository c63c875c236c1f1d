#include <algorithm>
#include <cstring>
#include <string>

#include "kernels/simt/async.h"
#include "kernels/simt/block_runner.h"
#include "kernels/simt/fault.h"
#include "kernels/simt/sanitizers.h"

namespace kvsim::simt {
namespace {

bool aligned16(const void* p) { return reinterpret_cast<std::uintptr_t>(p) % 16 == 0; }

std::string text(Site site) { return std::string(site.file) + ":" + std::to_string(site.line); }

// Each phase orders memory by a key of its own: what arrives for the next one is not seen yet.
void* phase_key(std::uint64_t* bar, unsigned parity) {
  return reinterpret_cast<char*>(bar) + (parity & 1U);
}

void note_copy(const BulkCopy& copy) {
  const sanitizers::Frame frame(copy.caller);
  for (unsigned i = 0; i < copy.bytes; i += 16) {
    sanitizers::note_read16(static_cast<const char*>(copy.global) + i);
    sanitizers::note_write16(static_cast<char*>(copy.shared) + i);
  }
}

}  // namespace

void mbar_init(std::uint64_t* bar, unsigned arrivals, Site site) {
  const sanitizers::Frame frame(__builtin_return_address(0));
  if (reinterpret_cast<std::uintptr_t>(bar) % 8 != 0)
    fail("an mbarrier that is not aligned to 8 bytes at " + text(site));
  if (arrivals == 0) fail("an mbarrier for no arrivals at " + text(site));
  current->runner->require_shared(bar, 8, "mbarrier", site);
  sanitizers::note_write8(bar);
  current->runner->init_mbarrier(bar, arrivals, site);
}

void mbar_arrive(std::uint64_t* bar, unsigned expect_bytes, Site site) {
  const sanitizers::Frame frame(__builtin_return_address(0));
  current->runner->arrive_at_mbarrier(bar, 1, expect_bytes, site);
}

void mbar_wait(std::uint64_t* bar, unsigned parity, Site site) {
  const sanitizers::Frame frame(__builtin_return_address(0));
  current->runner->wait_at_mbarrier(bar, parity, site);
}

void bulk_copy(void* shared, const void* global, unsigned bytes, std::uint64_t* bar, Site site) {
  const sanitizers::Frame frame(__builtin_return_address(0));
  if (!aligned16(shared) || !aligned16(global) || bytes % 16 != 0)
    fail("bulk copy whose addresses or size are not multiples of 16 at " + text(site));
  current->runner->require_shared(shared, bytes, "bulk copy", site);
  if (current->accounting != nullptr) current->accounting->read(global, bytes, site);
  current->runner->queue_bulk({shared, global, bytes, bar, __builtin_return_address(0)}, site);
}

void BlockRunner::init_mbarrier(std::uint64_t* bar, unsigned arrivals, Site site) {
  const auto known = std::ranges::find(mbarriers_, bar, &Mbarrier::address);
  if (known != mbarriers_.end()) fault("an mbarrier is initialised again at " + text(site));
  mbarriers_.push_back({bar, arrivals, arrivals, 0, 0});
}

Mbarrier& BlockRunner::mbarrier(std::uint64_t* bar, Site site) {
  sanitizers::note_read8(bar);
  const auto known = std::ranges::find(mbarriers_, bar, &Mbarrier::address);
  if (known == mbarriers_.end())
    fault("an mbarrier that was not initialised is used at " + text(site));
  return *known;
}

void BlockRunner::arrive_at_mbarrier(std::uint64_t* bar, unsigned arrivals, std::int64_t expect,
                                     Site site) {
  Mbarrier& m = mbarrier(bar, site);
  sanitizers::release(phase_key(bar, m.parity));
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
  sanitizers::acquire(phase_key(bar, parity));
}

void BlockRunner::queue_bulk(const BulkCopy& copy, Site site) {
  mbarrier(copy.bar, site);
  sanitizers::release(&bulk_key_);
  if (lands_early())
    land(copy, self().tsan_fiber);
  else
    bulk_.push_back(copy);
}

// `sanitizer_fiber`: ThreadSanitizer's name for who calls.
void BlockRunner::land(const BulkCopy& copy, void* sanitizer_fiber) {
  const auto bar = std::ranges::find(mbarriers_, copy.bar, &Mbarrier::address);
  if (copy_engine_ != nullptr) {
    sanitizers::switch_to(copy_engine_);
    sanitizers::acquire(&bulk_key_);
    note_copy(copy);
    sanitizers::release(phase_key(copy.bar, bar->parity));
    sanitizers::switch_to(sanitizer_fiber);
  }
  sanitizers::check_read(copy.global, copy.bytes);
  // In pieces of fixed size: a call of memcpy would count as an access of this thread.
  for (unsigned i = 0; i < copy.bytes; i += 16)
    std::memcpy(static_cast<char*>(copy.shared) + i, static_cast<const char*>(copy.global) + i, 16);
  bar->bytes -= copy.bytes;
  if (bar->pending == 0 && bar->bytes == 0) complete_phase(*bar);
}

bool BlockRunner::land_bulk_copies() {
  if (bulk_.empty()) return false;
  for (const BulkCopy& copy : bulk_) land(copy, home_fiber_);
  bulk_.clear();
  return true;
}

}  // namespace kvsim::simt
