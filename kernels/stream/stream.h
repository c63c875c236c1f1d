#pragma once
#include <cstdint>

#include "kernels/device/global.h"
#include "kernels/host/variants.h"

namespace kvsim::kernels {

// `words` vectors of 16 bytes from `from` to `to`, by at most `most_blocks` blocks.
struct CopyArgs {
  Global<const Words4> from;
  Global<Words4> to;
  std::int64_t words = 0;
  std::int64_t most_blocks = 8192;
};

// Reads `words` vectors; sums[block] = the sum modulo 2^32 of the 32-bit words the block read.
struct ReadArgs {
  Global<const Words4> from;
  Global<std::uint32_t> sums;  // [blocks]
  std::int64_t words = 0;
  unsigned blocks = 1;
};

// Writes seed + k to 32-bit word k of `to`.
struct WriteArgs {
  Global<Words4> to;
  std::int64_t words = 0;
  std::uint32_t seed = 0;
  std::int64_t most_blocks = 8192;
};

// Blocks that cover `words` at so many per block, between 1 and `most`.
inline unsigned stream_grid(std::int64_t words, std::int64_t words_per_block, std::int64_t most) {
  const std::int64_t blocks = (words + words_per_block - 1) / words_per_block;
  return static_cast<unsigned>(blocks < 1 ? 1 : (blocks > most ? most : blocks));
}

namespace cpu {
VariantList<CopyArgs> copy_variants();
VariantList<ReadArgs> read_variants();
VariantList<WriteArgs> write_variants();
}  // namespace cpu
namespace gpu {
VariantList<CopyArgs> copy_variants();
VariantList<ReadArgs> read_variants();
VariantList<WriteArgs> write_variants();
}  // namespace gpu

}  // namespace kvsim::kernels
