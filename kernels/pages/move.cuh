#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/pages/pages.h"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr unsigned move_threads = 256;
constexpr int move_unroll = 8;
constexpr int move_segment = 32 * move_unroll;  // words of one warp at a time: 4 KB

enum class Move { gather, scatter };

template <Move move>
__device__ __forceinline__ void move_word(const MovePagesArgs& args, std::int64_t in_pool,
                                          std::int64_t in_host) {
  if constexpr (move == Move::gather)
    store(args.host + in_host, load_stream(args.pool + in_pool));
  else
    store(args.pool + in_pool, load_stream(args.host + in_host));
}

// A word per thread and iteration, each with a division and a look at the list.
template <Move move>
__global__ void __launch_bounds__(move_threads) move_naive(const MovePagesArgs args) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < args.pages * args.page_words; i += stride) {
    const std::int64_t page = i / args.page_words, word = i % args.page_words;
    move_word<move>(args, load(args.ids + page) * static_cast<std::int64_t>(args.page_words) + word,
                    i);
  }
}

// A warp moves 4 KB of a page at a time, eight loads per lane in flight: over PCIe a load takes
// more than a microsecond, and what keeps the link busy is bytes asked for, not threads.
template <Move move>
__global__ void __launch_bounds__(move_threads) move_segments(const MovePagesArgs args) {
  const unsigned lane = threadIdx.x % 32;
  const int per_page = (args.page_words + move_segment - 1) / move_segment;
  const std::int64_t segments = args.pages * per_page;
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * (move_threads / 32);
  const Global<const Words4> from = move == Move::gather ? args.pool : args.host;
  const Global<Words4> to = move == Move::gather ? args.host : args.pool;
  for (std::int64_t s =
           static_cast<std::int64_t>(blockIdx.x) * (move_threads / 32) + threadIdx.x / 32;
       s < segments; s += stride) {
    const std::int64_t page = s / per_page;
    const int first = static_cast<int>(s % per_page) * move_segment;
    const std::int64_t in_pool =
        load(args.ids + page) * static_cast<std::int64_t>(args.page_words) + first + lane;
    const std::int64_t in_host = page * args.page_words + first + lane;
    const std::int64_t in_from = move == Move::gather ? in_pool : in_host;
    const std::int64_t in_to = move == Move::gather ? in_host : in_pool;
    if (first + move_segment <= args.page_words) {
      Words4 held[move_unroll];
#pragma unroll
      for (int u = 0; u < move_unroll; ++u) held[u] = load_stream(from + (in_from + 32 * u));
#pragma unroll
      for (int u = 0; u < move_unroll; ++u) store(to + (in_to + 32 * u), held[u]);
    } else {
      for (int w = static_cast<int>(lane); first + w < args.page_words; w += 32)
        move_word<move>(args, in_pool + w - lane, in_host + w - lane);
    }
  }
}

template <Move move>
void launch_move_naive(const MovePagesArgs& args, Stream stream) {
  const std::int64_t blocks = (args.pages * args.page_words + move_threads - 1) / move_threads;
  if (blocks > 0)
    launch(move_naive<move>, {static_cast<unsigned>(blocks > 8192 ? 8192 : blocks)}, move_threads,
           0, stream, args);
}

template <Move move, int most_blocks>
void launch_move_segments(const MovePagesArgs& args, Stream stream) {
  const std::int64_t segments = args.pages * ((args.page_words + move_segment - 1) / move_segment);
  const std::int64_t blocks = (segments + move_threads / 32 - 1) / (move_threads / 32);
  if (blocks > 0)
    launch(move_segments<move>,
           {static_cast<unsigned>(blocks > most_blocks ? most_blocks : blocks)}, move_threads, 0,
           stream, args);
}

// Sixteen blocks ask for 512 KB at a time, several times what a link of 64 GB/s holds in two
// microseconds, and leave the other processors to other kernels.
template <Move move>
VariantList<MovePagesArgs> move_variants() {
  static const Variant<MovePagesArgs> list[] = {
      {"naive", 80, true, launch_move_naive<move>},
      {"segments", 80, false, launch_move_segments<move, 1056>},
      {"segments_16_blocks", 80, false, launch_move_segments<move, 16>},
  };
  return list;
}

VariantList<MovePagesArgs> gather_variants() { return move_variants<Move::gather>(); }
VariantList<MovePagesArgs> scatter_variants() { return move_variants<Move::scatter>(); }

}  // namespace kvsim::kernels::KVSIM_BACKEND
