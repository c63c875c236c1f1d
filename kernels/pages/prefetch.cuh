#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/pages/pages.h"

namespace kvsim::kernels::KVSIM_BACKEND {

enum class Ahead { nothing, lines, bulk };

constexpr int line_words = 8;  // 128 bytes

// Asks for the pages' lines first, then computes. The requests need no registers and no answer.
template <Ahead ahead>
__global__ void __launch_bounds__(prefetch_threads) compute_and_prefetch(const PrefetchArgs args) {
  const unsigned thread = blockIdx.x * prefetch_threads + threadIdx.x;
  const unsigned threads = gridDim.x * prefetch_threads;
  if constexpr (ahead == Ahead::lines) {
    const int per_page = (args.page_words + line_words - 1) / line_words;
    for (std::int64_t i = thread; i < static_cast<std::int64_t>(args.pages) * per_page;
         i += threads) {
      const std::int64_t page = load(args.ids + i / per_page);
      const std::int64_t word = page * args.page_words + i % per_page * line_words;
      prefetch_l2(args.keys + word);
      prefetch_l2(args.values + word);
    }
  }
  if constexpr (ahead == Ahead::bulk) {
    for (std::int64_t i = thread; i < args.pages; i += threads) {
      const std::int64_t word = load(args.ids + i) * static_cast<std::int64_t>(args.page_words);
      prefetch_l2_bulk(args.keys + word, static_cast<unsigned>(args.page_words) * 16U);
      prefetch_l2_bulk(args.values + word, static_cast<unsigned>(args.page_words) * 16U);
    }
  }
  std::uint32_t count = thread;
  for (int round = 0; round < args.rounds; ++round) count = next_count(count);
  store(args.busy + thread, count);
}

// A block per page, two loads in flight per thread.
__global__ void __launch_bounds__(prefetch_threads) sum_pages(const PrefetchArgs args) {
  KVSIM_SHARED(shared);
  auto* const sums = reinterpret_cast<std::uint32_t*>(shared);
  const std::int64_t first =
      load(args.ids + blockIdx.x) * static_cast<std::int64_t>(args.page_words);
  std::uint32_t sum = 0;
  for (int w = static_cast<int>(threadIdx.x); w < args.page_words;
       w += static_cast<int>(prefetch_threads)) {
    const Words4 key = load_stream(args.keys + (first + w));
    const Words4 value = load_stream(args.values + (first + w));
    sum += key.word[0] + key.word[1] + key.word[2] + key.word[3];
    sum += value.word[0] + value.word[1] + value.word[2] + value.word[3];
  }
#pragma unroll
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffU, sum, step);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    std::uint32_t total = 0;
    for (unsigned w = 0; w < prefetch_threads / 32; ++w) total += sums[w];
    store(args.sums + blockIdx.x, total);
  }
}

template <Ahead ahead>
void launch_step(const PrefetchArgs& args, Stream stream) {
  launch(compute_and_prefetch<ahead>, {args.blocks}, prefetch_threads, 0, stream, args);
  if (args.pages > 0)
    launch(sum_pages, {static_cast<unsigned>(args.pages)}, prefetch_threads,
           prefetch_threads / 32 * 4, stream, args);
}

VariantList<PrefetchArgs> prefetch_variants() {
  static const Variant<PrefetchArgs> list[] = {
      {"off", 80, true, launch_step<Ahead::nothing>},
      {"lines", 80, false, launch_step<Ahead::lines>},
      {"bulk", 90, false, launch_step<Ahead::bulk>},
  };
  return list;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
