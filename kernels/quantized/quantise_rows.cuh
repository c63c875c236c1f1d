#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/quantized/quantise.h"
#include "kernels/quantized/quantise_math.cuh"

// What both variants of the quantise kernels know about where things are.
namespace kvsim::kernels::KVSIM_BACKEND {

// One head of one page, as keys (side 0) or values (side 1).
struct QuantiseBlock {
  Global<const Bf16> from;
  Global<std::uint8_t> to;
  PageJob job;
  float scale;  // fp8 and nvfp4
  int side;

  __device__ QuantiseBlock(const QuantiseArgs& args, int job_index, int side_, int head)
      : job(load(args.jobs + job_index)), scale(1), side(side_) {
    const std::int64_t rows = args.page;
    from = (side == 0 ? args.k : args.v) +
           (static_cast<std::int64_t>(job.from) * args.kv_heads + head) * rows * quantised_dim;
    to = (side == 0 ? args.k_out : args.v_out) +
         (static_cast<std::int64_t>(job.to) * args.kv_heads + head) *
             block_bytes(args.format, args.page);
    const Global<const float> scales = side == 0 ? args.k_scale : args.v_scale;
    if (args.format == KvFormat::fp8 || args.format == KvFormat::nvfp4) scale = load(scales + head);
  }
  __device__ bool has(int token) const {
    return token >= job.first && token < job.first + job.count;
  }
  __device__ Global<std::uint8_t> codes(KvFormat format, int token) const {
    return to + token * code_row_bytes(format);
  }
  __device__ Global<std::uint8_t> scales(KvFormat format, int page, int token) const {
    return to + page * code_row_bytes(format) + token * scale_row_bytes(format);
  }
};

}  // namespace kvsim::kernels::KVSIM_BACKEND
