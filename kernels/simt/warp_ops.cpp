#include "kernels/simt/warp_ops.h"

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
  for (unsigned lane = 0; lane < 32; ++lane)
    if ((mask >> lane & 1U) != 0U) values[lane] = static_cast<Word*>(data[lane])->value;
  for (unsigned lane = 0; lane < 32; ++lane)
    if ((mask >> lane & 1U) != 0U) {
      auto* word = static_cast<Word*>(data[lane]);
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
  rendezvous(mask, "shuffle", site, &word, exchange);
  return word.value;
}

std::uint32_t ballot(std::uint32_t mask, bool predicate, Site site) {
  Vote vote{predicate, 0};
  rendezvous(mask, "vote", site, &vote, count_votes);
  return vote.votes;
}

}  // namespace kvsim::simt
