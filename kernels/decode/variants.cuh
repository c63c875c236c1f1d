#pragma once
#include "kernels/decode/naive.cuh"
#include "kernels/decode/simt.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

// Defined in mma.cuh and bulk.cuh, instantiated in files of their own, which nvcc compiles side by
// side.
template <int dim>
void launch_decode_mma(const DecodeArgs& args, Stream stream);
template <int dim>
void launch_decode_bulk(const DecodeArgs& args, Stream stream);

inline bool decode_has_dim(const DecodeArgs& args) {
  return args.kv.head_dim == 64 || args.kv.head_dim == 128;
}

inline bool decode_mma_supports(const DecodeArgs& args) {
  const int log = args.log_page;
  return decode_has_dim(args) && args.merge.heads_per_group <= decode_max_group &&
         (log == contiguous_kv || log == 0 || log == 4 || log == 6 || log == 7);
}

inline void launch_mma_of_dim(const DecodeArgs& args, Stream stream) {
  if (args.merge.groups == 0) return;
  args.kv.head_dim == 64 ? launch_decode_mma<64>(args, stream)
                         : launch_decode_mma<128>(args, stream);
}

inline void launch_mma_split(const DecodeArgs& args, Stream stream) {
  DecodeArgs a = args;
  a.counters = {}, a.plan = {};
  launch_mma_of_dim(a, stream);
  if (a.merge.splits > 1) launch_merge(a.merge, stream);
}

inline void launch_mma_last_block(const DecodeArgs& args, Stream stream) {
  DecodeArgs a = args;
  a.plan = {};
  launch_mma_of_dim(a, stream);
}

inline void launch_mma_planned(const DecodeArgs& args, Stream stream) {
  launch_mma_of_dim(args, stream);
  if (args.plan.partials == 0) return;
  MergeArgs merge = args.merge;
  merge.first = args.plan.partial_first;
  launch_merge(merge, stream);
}

inline bool decode_bulk_supports(const DecodeArgs& args) {
  return decode_has_dim(args) && args.merge.heads_per_group <= decode_max_group;
}

inline void launch_bulk_split(const DecodeArgs& args, Stream stream) {
  if (args.merge.groups == 0) return;
  args.kv.head_dim == 64 ? launch_decode_bulk<64>(args, stream)
                         : launch_decode_bulk<128>(args, stream);
  if (args.merge.splits > 1) launch_merge(args.merge, stream);
}

VariantList<DecodeArgs> decode_variants() {
  static const Variant<DecodeArgs> list[] = {
      {"simt_nosplit", 80, true,
       [](const DecodeArgs& a, Stream s) {
         a.kv.head_dim == 64 ? launch_decode_naive<64>(a, s) : launch_decode_naive<128>(a, s);
       },
       decode_has_dim},
      {"simt_split", 80, false,
       [](const DecodeArgs& a, Stream s) {
         a.kv.head_dim == 64 ? launch_decode_simt<64>(a, s) : launch_decode_simt<128>(a, s);
       },
       decode_has_dim},
      {"mma_split", 80, false, launch_mma_split, decode_mma_supports},
      {"mma_lastblock", 80, false, launch_mma_last_block, decode_mma_supports},
      {"mma_planned", 80, false, launch_mma_planned, decode_mma_supports},
      {"bulk_split", 90, false, launch_bulk_split, decode_bulk_supports},
  };
  return list;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
