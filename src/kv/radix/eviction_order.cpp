#include "kv/radix/eviction_order.h"

#include <algorithm>
#include <array>

namespace kvsim::kv {
namespace {

constexpr std::array rows{
    RadixEvictionRow{RadixEviction::lru, "lru", "the node that was used longest ago"},
    RadixEvictionRow{RadixEviction::lfu, "lfu", "the node with the fewest inserts over it"},
    RadixEvictionRow{RadixEviction::slru, "slru",
                     "nodes inserted once before those inserted again, each by last use"},
    RadixEvictionRow{RadixEviction::priority, "priority",
                     "the node of the lowest request priority, then by last use"},
    RadixEvictionRow{RadixEviction::fifo, "fifo", "the oldest node"},
    RadixEvictionRow{RadixEviction::filo, "filo", "the newest node"},
    RadixEvictionRow{RadixEviction::mru, "mru", "the node that was used last"},
};

constexpr std::int64_t slru_protected_hits = 2;  // from here on a node counts as used again

}  // namespace

std::span<const RadixEvictionRow> radix_evictions() { return rows; }

std::optional<RadixEviction> radix_eviction(std::string_view name) {
  const auto* row = std::ranges::find(rows, name, &RadixEvictionRow::name);
  if (row == rows.end()) return std::nullopt;
  return row->policy;
}

EvictionKey eviction_key(RadixEviction policy, const EvictionFacts& facts) {
  switch (policy) {
    case RadixEviction::lru:
      return {0, facts.last_access};
    case RadixEviction::lfu:
      return {facts.hit_count, facts.last_access};
    case RadixEviction::slru:
      return {facts.hit_count >= slru_protected_hits ? 1 : 0, facts.last_access};
    case RadixEviction::priority:
      return {facts.priority, facts.last_access};
    case RadixEviction::fifo:
      return {0, facts.creation};
    case RadixEviction::filo:
      return {0, -facts.creation};
    case RadixEviction::mru:
      return {0, -facts.last_access};
  }
  return {};
}

}  // namespace kvsim::kv
