#pragma once
#include "kernels/quantized/decode_simt.cuh"
#include "kernels/quantized/with_format.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

VariantList<DecodeQuantisedArgs> decode_quantised_variants() {
  static const Variant<DecodeQuantisedArgs> list[] = {
      {"simt", 80, true,
       [](const DecodeQuantisedArgs& args, Stream stream) {
         with_format(args.kv.format,
                     [&]<KvFormat format>() { launch_quantised_simt<format>(args, stream); });
       }},
      {"mma_rows16", 80, false, launch_decode_rows},
      // The last, so that a list without it keeps the places of the others.
      {"mma_columns8", 80, false, launch_decode_columns,
       [](const DecodeQuantisedArgs& args) { return args.merge.heads_per_group <= 8; }},
  };
  return list;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
