#include "kv/reuse/eviction_queues.h"

#include "diag/check.h"

namespace kvsim::kv {

void EvictionQueues::enter(CacheLevel level, int priority, BlockId block) {
  Link& link = links_[index(block)];
  KVSIM_CHECK(link.priority < 0, "block {} enters the free queues twice", block);
  link.priority = static_cast<std::int16_t>(priority);
  link.level = level;
  ++counts_[static_cast<std::size_t>(level)];
}

void EvictionQueues::push_back(CacheLevel level, int priority, BlockId block) {
  enter(level, priority, block);
  Queue& q = queue(level, priority);
  links_[index(block)].previous = q.tail;
  (q.tail == no_block ? q.head : links_[index(q.tail)].next) = block;
  q.tail = block;
}

void EvictionQueues::push_front(CacheLevel level, int priority, BlockId block) {
  enter(level, priority, block);
  Queue& q = queue(level, priority);
  links_[index(block)].next = q.head;
  (q.head == no_block ? q.tail : links_[index(q.head)].previous) = block;
  q.head = block;
}

void EvictionQueues::remove(BlockId block) {
  Link& link = links_[index(block)];
  KVSIM_CHECK(link.priority >= 0, "block {} is in no free queue", block);
  Queue& q = queue(link.level, link.priority);
  (link.previous == no_block ? q.head : links_[index(link.previous)].next) = link.next;
  (link.next == no_block ? q.tail : links_[index(link.next)].previous) = link.previous;
  --counts_[static_cast<std::size_t>(link.level)];
  link = {};
}

BlockId EvictionQueues::head_from(CacheLevel level, int priority) const {
  for (int p = priority; p <= highest_priority; ++p) {
    const BlockId head = queues_[static_cast<std::size_t>(level)][static_cast<std::size_t>(p)].head;
    if (head != no_block) return head;
  }
  return no_block;
}

BlockId EvictionQueues::first(CacheLevel level) const { return head_from(level, lowest_priority); }

BlockId EvictionQueues::next_after(CacheLevel level, BlockId block) const {
  const Link& link = links_[index(block)];
  return link.next != no_block ? link.next : head_from(level, link.priority + 1);
}

}  // namespace kvsim::kv
