#include "kv/radix/eviction_heap.h"

#include <algorithm>

namespace kvsim::kv {

void EvictionHeap::sift_up(std::size_t at) {
  const Entry entry = entries_[at];
  while (at > 0) {
    const std::size_t above = (at - 1) / 4;
    if (!(entry.key < entries_[above].key)) break;
    put(at, entries_[above]);
    at = above;
  }
  put(at, entry);
}

void EvictionHeap::sift_down(std::size_t at) {
  const Entry entry = entries_[at];
  for (;;) {
    const std::size_t first = 4 * at + 1;
    if (first >= entries_.size()) break;
    std::size_t least = first;
    const std::size_t end = std::min(first + 4, entries_.size());
    for (std::size_t i = first + 1; i < end; ++i)
      if (entries_[i].key < entries_[least].key) least = i;
    if (!(entries_[least].key < entry.key)) break;
    put(at, entries_[least]);
    at = least;
  }
  put(at, entry);
}

void EvictionHeap::remove(std::size_t at) {
  place_[static_cast<std::size_t>(entries_[at].node)] = -1;
  const Entry last = entries_.back();
  entries_.pop_back();
  if (at == entries_.size()) return;
  put(at, last);
  sift_up(at);
  sift_down(static_cast<std::size_t>(place_of(last.node)));
}

}  // namespace kvsim::kv
