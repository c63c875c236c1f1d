#pragma once
#include <cstdint>

#include "kv/radix/radix_key.h"

// Random histories for the prefix trees, the same everywhere.
namespace kvsim::kv {

struct Dice {
  std::uint64_t state;
  std::int64_t below(std::int64_t n) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(n));
  }
};

// Up to four runs of three contents under two extra keys, so that keys often share a prefix.
inline RadixKey random_key(Dice& dice, std::int64_t longest_run = 7) {
  RadixKey key(static_cast<std::uint64_t>(dice.below(8) == 0 ? 1 : 0));
  for (std::int64_t runs = 1 + dice.below(4); runs > 0; --runs)
    key.append({static_cast<std::uint64_t>(dice.below(3)), dice.below(2) * dice.below(5),
                1 + dice.below(longest_run)});
  return key;
}

}  // namespace kvsim::kv
