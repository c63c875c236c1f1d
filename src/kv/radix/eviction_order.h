#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

// In which order a prefix tree gives nodes up: SGLang's radix_eviction_policy
// (mem_cache/evict_policy.py, 2026-07).
namespace kvsim::kv {

enum class RadixEviction { lru, lfu, slru, priority, fifo, filo, mru };

struct RadixEvictionRow {
  RadixEviction policy;
  std::string_view name;     // as SGLang's flag spells it
  std::string_view summary;  // what goes first
};
std::span<const RadixEvictionRow> radix_evictions();
std::optional<RadixEviction> radix_eviction(std::string_view name);

// What is known about a node when it is ranked; times are ticks of its tree's own clock.
struct EvictionFacts {
  std::int64_t last_access = 0, creation = 0, hit_count = 0, priority = 0;
};

// The smaller goes first.
struct EvictionKey {
  std::int64_t rank = 0, time = 0;
  friend auto operator<=>(const EvictionKey&, const EvictionKey&) = default;
};
EvictionKey eviction_key(RadixEviction policy, const EvictionFacts& facts);

// Using a node again moves it back under every policy but mru, where it moves to the front.
inline bool use_moves_forward(RadixEviction policy) { return policy == RadixEviction::mru; }

}  // namespace kvsim::kv
