#pragma once
#include <cstdint>

// The 64-bit mixing that hashes over token runs are made of. Stable: equal on every platform.
namespace kvsim::kv {

// Folds one 64-bit word into a running hash: a full 64 x 64 -> 128 bit product, halves xored.
inline std::uint64_t fold(std::uint64_t state, std::uint64_t word) {
  const auto product = static_cast<unsigned __int128>(state ^ 0xa0761d6478bd642fULL) *
                       (word ^ 0xe7037ed1a0b428dbULL);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Spreads every bit of a running hash over all 64 bits.
inline std::uint64_t finish(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace kvsim::kv
