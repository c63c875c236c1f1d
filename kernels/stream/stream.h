#pragma once
#include <cstdint>

#include "kernels/device/global.h"
#include "kernels/host/variants.h"

namespace kvsim::kernels {

// `words` vectors of 16 bytes from `from` to `to`.
struct CopyArgs {
  Global<const Words4> from;
  Global<Words4> to;
  std::int64_t words = 0;
};

namespace cpu {
VariantList<CopyArgs> copy_variants();
}
namespace gpu {
VariantList<CopyArgs> copy_variants();
}

}  // namespace kvsim::kernels
