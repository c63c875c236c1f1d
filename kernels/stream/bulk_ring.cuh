#pragma once
#include "kernels/device/kv_device.h"

// A stream of 16-byte words through a ring of tiles in shared memory, filled by bulk copies: one
// thread asks for whole tiles, so that bytes in flight cost neither registers nor instructions.
namespace kvsim::kernels::KVSIM_BACKEND {

constexpr unsigned ring_threads = 256;
constexpr int ring_stages = 6;
constexpr int ring_tile_words = 512;  // 8 KB
constexpr unsigned ring_shared_bytes = ring_stages * ring_tile_words * 16 + 128;

// Calls use(word, index) for every word whose tile falls to this block: tile t goes to block
// t % gridDim.x. All threads of the block call.
template <class Use>
__device__ __forceinline__ void stream_through_ring(Global<const Words4> from, std::int64_t words,
                                                    unsigned char* shared, const Use& use) {
  auto* const full = reinterpret_cast<std::uint64_t*>(shared);
  const auto tile_at = [&](int stage) {
    return reinterpret_cast<Words4*>(shared + 128) + stage * ring_tile_words;
  };
  const std::int64_t tiles = (words + ring_tile_words - 1) / ring_tile_words;
  const auto words_of = [&](std::int64_t tile) {
    const std::int64_t left = words - tile * ring_tile_words;
    return static_cast<int>(left < ring_tile_words ? left : ring_tile_words);
  };
  const auto request = [&](std::int64_t tile, int stage) {
    const auto bytes = static_cast<unsigned>(words_of(tile)) * 16U;
    mbar_expect_tx(full + stage, bytes);
    bulk_g2s(tile_at(stage), from + tile * ring_tile_words, bytes, full + stage);
  };

  if (threadIdx.x == 0)
    for (int s = 0; s < ring_stages; ++s) mbar_init(full + s, 1);
  __syncthreads();
  if (threadIdx.x == 0)
    for (int s = 0; s < ring_stages; ++s) {
      const std::int64_t tile = blockIdx.x + static_cast<std::int64_t>(s) * gridDim.x;
      if (tile < tiles) request(tile, s);
    }
  int stage = 0;
  unsigned parity = 0;
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    mbar_wait(full + stage, parity);
    const int here = words_of(tile);
    for (int w = static_cast<int>(threadIdx.x); w < here; w += static_cast<int>(ring_threads))
      use(tile_at(stage)[w], tile * ring_tile_words + w);
    // The tile may be overwritten once every thread has read it.
    __syncthreads();
    const std::int64_t next = tile + static_cast<std::int64_t>(ring_stages) * gridDim.x;
    if (threadIdx.x == 0 && next < tiles) request(next, stage);
    if (++stage == ring_stages) {
      stage = 0;
      parity ^= 1U;
    }
  }
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
