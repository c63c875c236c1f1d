#pragma once
#include <initializer_list>

#include "kv/radix/radix_key.h"

// Keys written as tokens, for tests.
namespace kvsim::kv {

// Tokens by number; consecutive numbers are one run.
inline RadixKey key_of(std::initializer_list<std::int64_t> tokens, std::uint64_t extra_key = 0) {
  RadixKey key(extra_key);
  for (const std::int64_t token : tokens) key.append({7, token, 1});
  return key;
}

// The tokens first, first + 1, ... last.
inline RadixKey key_from(std::int64_t first, std::int64_t last) {
  RadixKey key;
  key.append({7, first, last - first + 1});
  return key;
}

}  // namespace kvsim::kv
