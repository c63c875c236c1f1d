#pragma once
#include "kernels/quantized/decode_mma.cuh"
#include "kernels/quantized/warp_columns.cuh"
#include "kernels/quantized/with_format.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

void launch_decode_columns(const DecodeQuantisedArgs& args, Stream stream) {
  with_format(args.kv.format,
              [&]<KvFormat format>() { launch_quantised_mma<format, WarpColumns>(args, stream); });
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
