#pragma once
#include <cstdint>

#include "kernels/device/global.h"
#include "kernels/host/variants.h"

namespace kvsim::kernels {

// A cycle through every line of a buffer. Line i (128 bytes) begins with the offset, in 32-bit
// words, of the line that follows it: successor(i) * chase_line_words. Successors are those of a
// linear congruential generator of full period, so that a cycle of any power of two of lines needs
// no memory to build and any step of it can be computed alone.
constexpr std::uint32_t chase_line_words = 32;

KVSIM_FN inline std::uint32_t chase_successor(std::uint32_t line, std::uint32_t lines) {
  // Multiplier 1 modulo 4, odd increment: period `lines` for every power of two.
  return (line * 2891336453U + 1442695041U) & (lines - 1U);
}

struct ChaseLinkArgs {
  Global<std::uint32_t> buffer;
  std::uint32_t lines = 1;  // a power of two
};

// One thread walks `steps` lines, each address the content of the one before. It begins where
// ends[1] says (any bits: taken modulo the buffer) and writes first and last line to ends.
struct ChaseArgs {
  Global<const std::uint32_t> buffer;
  Global<std::uint32_t> ends;  // [2]
  std::uint32_t lines = 1;
  int steps = 0;
};

struct EmptyArgs {
  unsigned blocks = 1, threads = 32;
};

namespace cpu {
void launch_chase_links(const ChaseLinkArgs& args, Stream stream);
VariantList<ChaseArgs> chase_variants();
VariantList<EmptyArgs> empty_variants();
}  // namespace cpu
namespace gpu {
void launch_chase_links(const ChaseLinkArgs& args, Stream stream);
VariantList<ChaseArgs> chase_variants();
VariantList<EmptyArgs> empty_variants();
}  // namespace gpu

}  // namespace kvsim::kernels
