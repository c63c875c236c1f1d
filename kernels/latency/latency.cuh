#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/latency/latency.h"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr unsigned link_threads = 256;

__global__ void __launch_bounds__(link_threads) chase_links(const ChaseLinkArgs args) {
  const std::uint64_t stride = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < args.lines; i += stride) {
    const auto line = static_cast<std::uint32_t>(i);
    store(args.buffer + static_cast<std::int64_t>(i * chase_line_words),
          chase_successor(line, args.lines) * chase_line_words);
  }
}

// Offsets are stored as they are added, so that a step is one load and one addition of an address.
__global__ void __launch_bounds__(32) chase(const ChaseArgs args) {
  if (threadIdx.x != 0) return;
  const std::uint32_t start = load(args.ends + 1) & (args.lines - 1U);
  std::uint32_t at = start * chase_line_words;
#pragma unroll 8
  for (int step = 0; step < args.steps; ++step) at = load(args.buffer + at);
  store(args.ends, start);
  store(args.ends + 1, at / chase_line_words);
}

__global__ void __launch_bounds__(1024) nothing(const EmptyArgs) {}

void launch_chase_links(const ChaseLinkArgs& args, Stream stream) {
  const unsigned blocks = (args.lines + link_threads - 1) / link_threads;
  launch(chase_links, {blocks > 8192 ? 8192 : blocks}, link_threads, 0, stream, args);
}

VariantList<ChaseArgs> chase_variants() {
  static const Variant<ChaseArgs> list[] = {
      {"one_thread", 80, false,
       [](const ChaseArgs& a, Stream s) { launch(chase, {1}, 32, 0, s, a); }},
  };
  return list;
}

VariantList<EmptyArgs> empty_variants() {
  static const Variant<EmptyArgs> list[] = {
      {"launch", 80, false,
       [](const EmptyArgs& a, Stream s) { launch(nothing, {a.blocks}, a.threads, 0, s, a); }},
  };
  return list;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
