#pragma once
#include <cstdint>

#include "kernels/simt/lane.h"

// Copies that land later. They are made as late as the programming model allows, so that a kernel
// that reads too early reads the poison of its shared memory.
namespace kvsim::simt {

// cp.async: 16 bytes for this lane, made by the wait that covers them. Not valid: zeros land.
void async_copy16(void* shared, const void* global, bool valid, Site site);
void async_commit();
void async_wait(unsigned groups_in_flight);

// mbarriers and bulk copies: a copy lands when every lane of the block waits.
void mbar_init(std::uint64_t* bar, unsigned arrivals, Site site);
void mbar_arrive(std::uint64_t* bar, unsigned expect_bytes, Site site);
void mbar_wait(std::uint64_t* bar, unsigned parity, Site site);
void bulk_copy(void* shared, const void* global, unsigned bytes, std::uint64_t* bar, Site site);

}  // namespace kvsim::simt
