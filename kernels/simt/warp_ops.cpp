#include "kernels/simt/warp_ops.h"

#include <bit>
#include <string>

#include "kernels/simt/collectives.h"
#include "kernels/simt/fault.h"

namespace kvsim::simt {
namespace {

struct Word {
  std::uint64_t value;
  unsigned source;
};

void exchange(void* const* data, std::uint32_t mask) {
  std::uint64_t values[32];
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    values[lane] = static_cast<Word*>(data[lane])->value;
  }
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    auto* word = static_cast<Word*>(data[std::countr_zero(left)]);
    word->value = values[word->source];
  }
}

struct Vote {
  bool predicate;
  std::uint32_t votes;
};

void count_votes(void* const* data, std::uint32_t mask) {
  std::uint32_t votes = 0;
  for (unsigned lane = 0; lane < 32; ++lane)
    if ((mask >> lane & 1U) != 0U && static_cast<Vote*>(data[lane])->predicate) votes |= 1U << lane;
  for (unsigned lane = 0; lane < 32; ++lane)
    if ((mask >> lane & 1U) != 0U) static_cast<Vote*>(data[lane])->votes = votes;
}

}  // namespace

std::uint64_t shuffle(std::uint32_t mask, std::uint64_t value, unsigned source, Site site) {
  if (source > 31U || (mask >> source & 1U) == 0U)
    fail("shuffle from lane " + std::to_string(source) + ", which is not in the mask, at " +
         std::string(site.file) + ":" + std::to_string(site.line));
  const unsigned warp_start = current->index / 32 * 32;
  if (warp_start + source >= current->block_dim.x)
    fail("shuffle from lane " + std::to_string(source) + ", which the short last warp lacks, at " +
         std::string(site.file) + ":" + std::to_string(site.line));
  Word word{value, source};
  static constexpr Collective collective{"shuffle", exchange};
  rendezvous(mask, collective, site, &word);
  return word.value;
}

std::uint32_t ballot(std::uint32_t mask, bool predicate, Site site) {
  Vote vote{predicate, 0};
  static constexpr Collective collective{"vote", count_votes};
  rendezvous(mask, collective, site, &vote);
  return vote.votes;
}

}  // namespace kvsim::simt
