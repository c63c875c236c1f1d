#pragma once
#include <cstdint>

#include "kernels/simt/lane.h"

// What lanes do together. Each call blocks the lane until its partners have arrived.
namespace kvsim::simt {

// All threads of the block. Faults where threads wait at different sites or some have exited.
void block_barrier(Site site);
// `threads` threads (a multiple of 32) meet at barrier `id` (1 to 15); bar.sync id, threads.
void named_barrier(unsigned id, unsigned threads, Site site);
// The lanes of `mask`, with memory ordering among them.
void warp_barrier(std::uint32_t mask, Site site);

// What the lanes of a mask do when the last of them has arrived: combine(data by lane, mask).
struct Collective {
  const char* name;  // for reports
  void (*combine)(void* const* data, std::uint32_t mask) = nullptr;
  bool orders_memory = false;
};

// The lanes of `mask` each hand over `data`; the last to arrive combines, then all go on. Lanes
// meet at the same object `collective` in the same line.
void rendezvous(std::uint32_t mask, const Collective& collective, Site site, void* data);

}  // namespace kvsim::simt
