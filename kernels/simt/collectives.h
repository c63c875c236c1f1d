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

// The lanes of `mask` each hand over `data`; the last to arrive calls combine(data by lane, mask),
// then all go on. Orders no memory. `op` is a string literal for reports.
using Combine = void (*)(void* const* data, std::uint32_t mask);
void rendezvous(std::uint32_t mask, const char* op, Site site, void* data, Combine combine);

}  // namespace kvsim::simt
