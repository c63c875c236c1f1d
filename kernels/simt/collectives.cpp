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

bool Meeting::is_for(std::uint32_t lanes, const Collective& what, Site where) const {
  return mask == lanes && collective == &what && same(site, where);
}

// The meeting that lane's partners are at, or a new one.
Meeting& BlockRunner::open_meeting(Warp& warp, std::uint32_t mask, const Collective& collective,
                                   Site site, unsigned lane) {
  Meeting* free = nullptr;
  for (unsigned i = 0; i < warp.open; ++i) {
    Meeting& m = warp.meetings[i];
    if (m.arrived == 0)
      free = free == nullptr ? &m : free;
    else if (m.is_for(mask, collective, site) && (m.arrived >> lane & 1U) == 0U)
      return m;
  }
  Meeting& fresh = free != nullptr ? *free : warp.meetings[warp.open++];
  fresh.mask = mask;
  fresh.arrived = 0;
  fresh.collective = &collective;
  fresh.site = site;
  fresh.key = warp.next_key++ % static_cast<unsigned>(warp.keys.size());
  return fresh;
}

void BlockRunner::meet(std::uint32_t mask, const Collective& collective, Site site, void* data) {
  const unsigned lane = current->index % 32;
  Warp& warp = warps_[current->index / 32];
  if ((mask >> lane & 1U) == 0U)
    fault(std::string(collective.name) + " at " + text(site) +
          " with a mask that lacks the caller's own lane");
  // A mask of a whole warp stands for the lanes that a short last warp has.
  mask &= warp.all;
  // Mostly all lanes of the warp are on their way to the same place.
  Meeting& first = warp.meetings[0];
  const bool usual = first.arrived != 0 && first.site.line == site.line &&
                     first.site.file == site.file && first.mask == mask &&
                     first.collective == &collective && (first.arrived >> lane & 1U) == 0U;
  Meeting& meeting = usual ? first : open_meeting(warp, mask, collective, site, lane);
  char* key = &warp.keys[meeting.key];
  if (collective.orders_memory) sanitizers::release(key);
  meeting.data[lane] = data;
  meeting.arrived |= 1U << lane;
  if (meeting.arrived == mask) {
    if (collective.combine != nullptr) collective.combine(meeting.data.data(), mask);
    meeting.arrived = 0;
    warp.ready |= mask & ~(1U << lane);
  } else {
    wait_here(collective.name, site, mask);
  }
  if (collective.orders_memory) sanitizers::acquire(key);
}

void block_barrier(Site site) { current->runner->arrive_at_barrier(0, current->block_dim.x, site); }

void named_barrier(unsigned id, unsigned threads, Site site) {
  if (id == 0 || id > 15 || threads % 32 != 0)
    fail("barrier " + std::to_string(id) + " for " + std::to_string(threads) +
         " threads: ids are 1 to 15, counts multiples of 32");
  current->runner->arrive_at_barrier(id, threads, site);
}

void warp_barrier(std::uint32_t mask, Site site) {
  static constexpr Collective collective{"__syncwarp", nullptr, true};
  current->runner->meet(mask, collective, site, nullptr);
}

void rendezvous(std::uint32_t mask, const Collective& collective, Site site, void* data) {
  current->runner->meet(mask, collective, site, data);
}

}  // namespace kvsim::simt
