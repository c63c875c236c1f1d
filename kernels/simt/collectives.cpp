#include "kernels/simt/collectives.h"

#include <cstring>
#include <utility>

#include "kernels/simt/block_runner.h"
#include "kernels/simt/fault.h"
#include "kernels/simt/sanitizers.h"

namespace kvsim::simt {
namespace {

bool same(Site a, Site b) {
  return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

std::string text(Site site) { return std::string(site.file) + ":" + std::to_string(site.line); }

}  // namespace

void BlockRunner::arrive_at_barrier(unsigned id, unsigned threads, Site site) {
  Barrier& barrier = barriers_[id];
  const unsigned lane = current->index;
  if (id == 0 && exited_ > 0)
    fault("waits at __syncthreads at " + text(site) + " after " + std::to_string(exited_) +
          " threads have exited");
  if (barrier.arrived > 0 && !same(barrier.site, site))
    fault("thread " + std::to_string(lane) + " at " + text(site) + " while others wait at " +
          text(barrier.site));
  if (barrier.arrived > 0 && barrier.expected != threads)
    fault("barrier " + std::to_string(id) + " for " + std::to_string(threads) + " threads at " +
          text(site) + " while others wait for " + std::to_string(barrier.expected));
  barrier.site = site;
  barrier.expected = threads;
  char* key = &barrier.keys[barrier.phase & 1U];
  sanitizers::release(key);
  if (++barrier.arrived == threads) {
    for (std::size_t w = 0; w < warps_.size(); ++w)
      warps_[w].ready |= std::exchange(barrier.lanes[w], 0U);
    barrier.arrived = 0;
    ++barrier.phase;
  } else {
    barrier.lanes[lane / 32] |= 1U << (lane % 32);
    wait_here(id == 0 ? "__syncthreads" : "named barrier", site, 0);
  }
  sanitizers::acquire(key);
}

void BlockRunner::meet(std::uint32_t mask, const char* op, Site site, void* data, Combine combine,
                       bool orders_memory) {
  const unsigned lane = current->index % 32;
  Warp& warp = warps_[current->index / 32];
  if ((mask >> lane & 1U) == 0U)
    fault(std::string(op) + " at " + text(site) + " with a mask that lacks the caller's own lane");
  // A mask of a whole warp stands for the lanes that a short last warp has.
  mask &= warp.all;
  Meeting* meeting = nullptr;
  Meeting* free = nullptr;
  for (unsigned i = 0; i < warp.open && meeting == nullptr; ++i) {
    Meeting& m = warp.meetings[i];
    if (m.arrived == 0)
      free = free == nullptr ? &m : free;
    else if (m.mask == mask && m.op == op && same(m.site, site) && (m.arrived >> lane & 1U) == 0U)
      meeting = &m;
  }
  if (meeting == nullptr) {
    meeting = free != nullptr ? free : &warp.meetings[warp.open++];
    meeting->mask = mask, meeting->op = op, meeting->site = site, meeting->arrived = 0;
    meeting->key = warp.next_key++ % static_cast<unsigned>(warp.keys.size());
  }
  char* key = &warp.keys[meeting->key];
  if (orders_memory) sanitizers::release(key);
  meeting->data[lane] = data;
  meeting->arrived |= 1U << lane;
  if (meeting->arrived == mask) {
    if (combine != nullptr) combine(meeting->data.data(), mask);
    meeting->arrived = 0;
    warp.ready |= mask & ~(1U << lane);
  } else {
    wait_here(op, site, mask);
  }
  if (orders_memory) sanitizers::acquire(key);
}

void block_barrier(Site site) { current->runner->arrive_at_barrier(0, current->block_dim.x, site); }

void named_barrier(unsigned id, unsigned threads, Site site) {
  if (id == 0 || id > 15 || threads % 32 != 0)
    fail("barrier " + std::to_string(id) + " for " + std::to_string(threads) +
         " threads: ids are 1 to 15, counts multiples of 32");
  current->runner->arrive_at_barrier(id, threads, site);
}

void warp_barrier(std::uint32_t mask, Site site) {
  current->runner->meet(mask, "__syncwarp", site, nullptr, nullptr, true);
}

void rendezvous(std::uint32_t mask, const char* op, Site site, void* data, Combine combine) {
  current->runner->meet(mask, op, site, data, combine, false);
}

}  // namespace kvsim::simt
