#pragma once
#include "kernels/quantized/decode_mma.cuh"
#include "kernels/quantized/warp_rows.cuh"
#include "kernels/quantized/with_format.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

void launch_decode_rows(const DecodeQuantisedArgs& args, Stream stream) {
  with_format(args.kv.format,
              [&]<KvFormat format>() { launch_quantised_mma<format, WarpRows>(args, stream); });
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
