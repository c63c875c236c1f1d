#pragma once
#include "kernels/attention/paged_kv.cuh"
#include "kernels/h2o/h2o.h"

namespace kvsim::kernels::KVSIM_BACKEND {

constexpr unsigned compact_threads = 256;

struct CompactRow {
  std::int64_t from, to;  // elements before the row in the old and the new pools
};

__device__ __forceinline__ CompactRow compact_row(const CompactArgs& args, int group, int j) {
  const int b = group / args.from.kv_heads, kv_head = group % args.from.kv_heads;
  const int token = load(args.kept + (static_cast<std::int64_t>(group) * args.max_kept + j));
  const int page =
      load(args.table + (static_cast<std::int64_t>(b) * args.max_pages + (j >> args.log_page)));
  const int slot = j & ((1 << args.log_page) - 1);
  return {row_of_token(args.from, args.log_page, b, kv_head, token),
          args.from.row(page, kv_head, slot)};
}

__device__ __forceinline__ void compact_account(const CompactArgs& args, int group, int j) {
  const int token = load(args.kept + (static_cast<std::int64_t>(group) * args.max_kept + j));
  store(args.new_accumulated + (static_cast<std::int64_t>(group) * args.max_kept + j),
        load(args.accumulated + (static_cast<std::int64_t>(group) * args.stride + token)));
}

// A block per kept row, an element per thread.
__global__ void __launch_bounds__(128) compact_naive(const CompactArgs args) {
  const auto j = static_cast<int>(blockIdx.x), group = static_cast<int>(blockIdx.y);
  if (j >= load(args.kept_lens + group / args.from.kv_heads)) return;
  const CompactRow row = compact_row(args, group, j);
  for (int i = static_cast<int>(threadIdx.x); i < args.from.head_dim; i += 128) {
    store(args.keys + (row.to + i), load(args.from.keys + (row.from + i)));
    store(args.values + (row.to + i), load(args.from.values + (row.from + i)));
  }
  if (threadIdx.x == 0) compact_account(args, group, j);
}

// A row of 16-byte vectors to `chunks` neighbouring lanes, two rows per lane in flight. Old rows
// lie anywhere, so a row (128 or 256 bytes) is the longest run there is to read at once.
template <int width>
__global__ void __launch_bounds__(compact_threads) compact_vector(const CompactArgs args) {
  constexpr int chunks = width / 8, rows = static_cast<int>(compact_threads) / chunks, unroll = 2;
  const auto group = static_cast<int>(blockIdx.y);
  const int kept = load(args.kept_lens + group / args.from.kv_heads);
  const int chunk = static_cast<int>(threadIdx.x) % chunks;
  const int first =
      static_cast<int>(blockIdx.x) * rows * unroll + static_cast<int>(threadIdx.x) / chunks;
  CompactRow row[unroll];
  Words4 key[unroll], value[unroll];
#pragma unroll
  for (int u = 0; u < unroll; ++u)
    if (first + u * rows < kept) row[u] = compact_row(args, group, first + u * rows);
#pragma unroll
  for (int u = 0; u < unroll; ++u)
    if (first + u * rows < kept) {
      key[u] = load_stream(as<const Words4>(args.from.keys + row[u].from) + chunk);
      value[u] = load_stream(as<const Words4>(args.from.values + row[u].from) + chunk);
    }
#pragma unroll
  for (int u = 0; u < unroll; ++u)
    if (first + u * rows < kept) {
      store(as<Words4>(args.keys + row[u].to) + chunk, key[u]);
      store(as<Words4>(args.values + row[u].to) + chunk, value[u]);
      if (chunk == 0) compact_account(args, group, first + u * rows);
    }
}

template <int width>
void launch_compact_width(const CompactArgs& args, Stream stream) {
  constexpr int rows = 2 * static_cast<int>(compact_threads) / (width / 8);
  launch(compact_vector<width>,
         {static_cast<unsigned>((args.max_kept + rows - 1) / rows),
          static_cast<unsigned>(args.sequences * args.from.kv_heads)},
         compact_threads, 0, stream, args);
}

VariantList<CompactArgs> compact_variants() {
  static const Variant<CompactArgs> list[] = {
      {"naive", 80, true,
       [](const CompactArgs& a, Stream s) {
         if (a.max_kept > 0 && a.sequences > 0)
           launch(compact_naive,
                  {static_cast<unsigned>(a.max_kept),
                   static_cast<unsigned>(a.sequences * a.from.kv_heads)},
                  128, 0, s, a);
       }},
      {"vector", 80, false,
       [](const CompactArgs& a, Stream s) {
         if (a.max_kept == 0 || a.sequences == 0) return;
         if (a.from.head_dim == 64)
           launch_compact_width<64>(a, s);
         else
           launch_compact_width<128>(a, s);
       },
       [](const CompactArgs& a) { return a.from.head_dim == 64 || a.from.head_dim == 128; }},
  };
  return list;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
