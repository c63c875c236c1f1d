#pragma once
#include <cstdint>

#include "kernels/attention/merge.h"
#include "kernels/device/global.h"
#include "kernels/host/variants.h"
#include "kernels/quantized/layout.h"

namespace kvsim::kernels {

// Quantised keys and values of all sequences. `quantised` says how many tokens of each sequence are
// in the pools, all of them where it is null; it is for KIVI alone (a multiple of 32), whose other
// tokens lie unquantised in the residuals, [sequence][kv head][residual][128], from slot 0 on.
struct QuantisedKv {
  Global<const std::uint8_t> keys, values;
  Global<const float> key_scale, value_scale;  // [kv head], fp8 and nvfp4
  Global<const std::int32_t> table;            // [sequence][max_pages]
  Global<const std::int32_t> lens, quantised;  // [sequence]
  Global<const Bf16> key_residual, value_residual;
  int max_pages = 0, log_page = 4, kv_heads = 0, residual = 0;
  KvFormat format = KvFormat::fp8;
};

// One query row per sequence and head, [sequence][kv head][head of group][128]. merge.splits counts
// the partials of a (sequence, kv head), the one of the residual (the last) included; with one
// partial the kernel writes the output itself.
struct DecodeQuantisedArgs {
  Global<const Bf16> q;
  QuantisedKv kv;
  MergeArgs merge;
  int sequences = 0;
  float scale = 1;  // of the scores

  KVSIM_FN int pool_splits() const { return merge.splits - (kv.residual > 0 ? 1 : 0); }
};

// Blocks per multiprocessor that a kernel's registers leave room for, by its format and the query
// heads its products are made for (16 or 8).
KVSIM_FN constexpr int places_per_sm(KvFormat format, int heads) {
  const bool bytes = format == KvFormat::fp8 || format == KvFormat::int8;
  return (bytes ? 3 : 2) + (heads == 8 ? 1 : 0);
}

// rows: up to 16 query heads per kv head; columns: up to 8.
namespace cpu {
VariantList<DecodeQuantisedArgs> decode_quantised_variants();
void launch_decode_rows(const DecodeQuantisedArgs& args, Stream stream);
void launch_decode_columns(const DecodeQuantisedArgs& args, Stream stream);
}  // namespace cpu
namespace gpu {
VariantList<DecodeQuantisedArgs> decode_quantised_variants();
void launch_decode_rows(const DecodeQuantisedArgs& args, Stream stream);
void launch_decode_columns(const DecodeQuantisedArgs& args, Stream stream);
}  // namespace gpu

}  // namespace kvsim::kernels
