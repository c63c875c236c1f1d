#pragma once
#include "kernels/decode/mma.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

template void launch_decode_mma<128>(const DecodeArgs& args, Stream stream);

}  // namespace kvsim::kernels::KVSIM_BACKEND
