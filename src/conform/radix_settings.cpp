#include "conform/radix_settings.h"

#include <limits>
#include <string_view>
#include <vector>

namespace kvsim::conform {

std::int64_t read_page_size(Arguments& settings) {
  return settings.integer("page_size", 1, 1 << 20);
}

kv::RadixEviction read_eviction_policy(Arguments& settings, std::string_view key) {
  std::vector<std::string_view> words;
  for (const kv::RadixEvictionRow& row : kv::radix_evictions()) words.push_back(row.name);
  return *kv::radix_eviction(settings.word(key, words));
}

kv::InsertKind read_insert_kind(Arguments& op) {
  return op.flag("chunked", false) ? kv::InsertKind::chunk : kv::InsertKind::whole;
}

std::int64_t read_priority(Arguments& op) {
  constexpr auto limit = std::numeric_limits<std::int32_t>::max();
  return op.maybe_integer("priority", -limit, limit).value_or(0);
}

}  // namespace kvsim::conform
