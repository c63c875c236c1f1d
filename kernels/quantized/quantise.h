#pragma once
#include <cstdint>

#include "kernels/device/global.h"
#include "kernels/host/variants.h"
#include "kernels/numbers/numbers.h"
#include "kernels/quantized/layout.h"

namespace kvsim::kernels {

// Tokens first..first+count-1 of the bf16 page `from` go to the same places of the quantised page
// `to`. KIVI takes whole groups of 32 tokens, the other formats any.
struct PageJob {
  std::int32_t from, to, first, count;
};

// Quantises and packs keys and values. The bf16 pools are [page][kv head][token][128]. k_scale and
// v_scale, one float per kv head, are read by fp8 and nvfp4 only. Nothing else of a quantised page
// is written.
struct QuantiseArgs {
  Global<const Bf16> k, v;
  Global<std::uint8_t> k_out, v_out;
  Global<const PageJob> jobs;
  Global<const float> k_scale, v_scale;
  int job_count = 0, kv_heads = 0, page = 0;
  KvFormat format = KvFormat::fp8;
};

namespace cpu {
VariantList<QuantiseArgs> quantise_variants();
}
namespace gpu {
VariantList<QuantiseArgs> quantise_variants();
}

}  // namespace kvsim::kernels
