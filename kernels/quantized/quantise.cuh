#pragma once
#include "kernels/quantized/quantise_naive.cuh"
#include "kernels/quantized/quantise_warp.cuh"

namespace kvsim::kernels::KVSIM_BACKEND {

inline unsigned quantise_blocks(std::int64_t units, unsigned per_block) {
  return static_cast<unsigned>((units + per_block - 1) / per_block);
}

inline std::int64_t quantise_rows(const QuantiseArgs& args) {
  return std::int64_t{2} * args.job_count * args.kv_heads * args.page;
}

template <KvFormat format>
void launch_quantise_warp(const QuantiseArgs& args, Stream stream) {
  const std::int64_t units = quantise_rows(args) / (format == KvFormat::kivi2 ? kivi_group : 16);
  if (units == 0) return;
  launch(quantise_warp<format>, {quantise_blocks(units, quantise_warp_threads / 32)},
         quantise_warp_threads, 0, stream, args);
}

VariantList<QuantiseArgs> quantise_variants() {
  static const Variant<QuantiseArgs> list[] = {
      {"naive", 80, true,
       [](const QuantiseArgs& args, Stream stream) {
         if (args.job_count == 0) return;
         launch(quantise_naive, {quantise_blocks(quantise_rows(args), quantise_naive_threads)},
                quantise_naive_threads, 0, stream, args);
       }},
      {"warp", 80, false,
       [](const QuantiseArgs& args, Stream stream) {
         switch (args.format) {
           case KvFormat::fp8:
             return launch_quantise_warp<KvFormat::fp8>(args, stream);
           case KvFormat::int8:
             return launch_quantise_warp<KvFormat::int8>(args, stream);
           case KvFormat::int4:
             return launch_quantise_warp<KvFormat::int4>(args, stream);
           case KvFormat::nvfp4:
             return launch_quantise_warp<KvFormat::nvfp4>(args, stream);
           case KvFormat::kivi2:
             return launch_quantise_warp<KvFormat::kivi2>(args, stream);
         }
       }},
  };
  return list;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
