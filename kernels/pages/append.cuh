#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/pages/pages.h"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr unsigned append_threads = 256;

// Elements before row (slot, kv_head) of the pools.
__device__ __forceinline__ std::int64_t append_row(const AppendArgs& args, std::int64_t slot,
                                                   int kv_head) {
  const std::int64_t page = slot >> args.log_page;
  const std::int64_t in_page = slot & ((std::int64_t{1} << args.log_page) - 1);
  return (((page * args.kv_heads + kv_head) << args.log_page) + in_page) * args.head_dim;
}

// A block per token, an element per thread and iteration.
__global__ void __launch_bounds__(append_threads) append_naive(const AppendArgs args) {
  const auto token = static_cast<int>(blockIdx.x);
  const std::int64_t slot = load(args.slots + token);
  if (slot < 0) return;
  const int elements = args.kv_heads * args.head_dim;
  for (int i = static_cast<int>(threadIdx.x); i < elements; i += static_cast<int>(blockDim.x)) {
    const int head = i / args.head_dim, column = i % args.head_dim;
    const std::int64_t from = static_cast<std::int64_t>(token) * elements + i;
    const std::int64_t to = append_row(args, slot, head) + column;
    store(args.keys + to, load(args.new_keys + from));
    store(args.values + to, load(args.new_values + from));
  }
}

// 16 bytes of keys and 16 of values per thread, `unroll` times in flight.
template <int unroll>
__global__ void __launch_bounds__(append_threads) append_vector(const AppendArgs args) {
  const int per_row = args.head_dim / 8, per_token = args.kv_heads * per_row;
  const std::int64_t total = static_cast<std::int64_t>(args.tokens) * per_token;
  const std::int64_t first =
      static_cast<std::int64_t>(blockIdx.x) * append_threads * unroll + threadIdx.x;
  std::int64_t to[unroll];
  Words4 key[unroll], value[unroll];
#pragma unroll
  for (int u = 0; u < unroll; ++u) {
    const std::int64_t i = first + u * static_cast<std::int64_t>(append_threads);
    to[u] = -1;
    if (i >= total) continue;
    const auto token = static_cast<int>(i / per_token);
    const int in_token = static_cast<int>(i - static_cast<std::int64_t>(token) * per_token);
    const std::int64_t slot = load(args.slots + token);
    if (slot < 0) continue;
    to[u] = append_row(args, slot, in_token / per_row) / 8 + in_token % per_row;
  }
#pragma unroll
  for (int u = 0; u < unroll; ++u) {
    const std::int64_t i = first + u * static_cast<std::int64_t>(append_threads);
    if (to[u] < 0) continue;
    key[u] = load_stream(as<const Words4>(args.new_keys) + i);
    value[u] = load_stream(as<const Words4>(args.new_values) + i);
  }
#pragma unroll
  for (int u = 0; u < unroll; ++u) {
    if (to[u] < 0) continue;
    store(as<Words4>(args.keys) + to[u], key[u]);
    store(as<Words4>(args.values) + to[u], value[u]);
  }
}

template <int unroll>
void launch_append_vector(const AppendArgs& args, Stream stream) {
  const std::int64_t total =
      static_cast<std::int64_t>(args.tokens) * args.kv_heads * (args.head_dim / 8);
  const std::int64_t blocks = (total + append_threads * unroll - 1) / (append_threads * unroll);
  if (blocks > 0)
    launch(append_vector<unroll>, {static_cast<unsigned>(blocks)}, append_threads, 0, stream, args);
}

VariantList<AppendArgs> append_variants() {
  static const Variant<AppendArgs> list[] = {
      {"naive", 80, true,
       [](const AppendArgs& a, Stream s) {
         if (a.tokens > 0)
           launch(append_naive, {static_cast<unsigned>(a.tokens)}, append_threads, 0, s, a);
       }},
      {"vector", 80, false, launch_append_vector<1>},
      {"vector2", 80, false, launch_append_vector<2>},
  };
  return list;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
