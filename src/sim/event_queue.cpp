#include "sim/event_queue.h"

#include <algorithm>

namespace kvsim::sim {
namespace {

constexpr std::size_t arity = 4;

}  // namespace

void EventQueue::push(Time time, std::uint8_t kind, std::uint32_t target, std::uint32_t payload) {
  Event event;
  event.time = time;
  event.rank = (std::uint64_t{kind} << Event::sequence_bits) | pushed_++;
  event.target = target;
  event.payload = payload;

  std::size_t hole = heap_.size();
  heap_.push_back(event);
  while (hole > 0) {
    const std::size_t parent = (hole - 1) / arity;
    if (!before(event, heap_[parent])) break;
    heap_[hole] = heap_[parent];
    hole = parent;
  }
  heap_[hole] = event;
}

Event EventQueue::pop() {
  const Event first = heap_.front();
  const Event last = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sift_down(last);
  return first;
}

// Puts `event` into the tree whose root is free.
void EventQueue::sift_down(const Event& event) {
  const std::size_t size = heap_.size();
  std::size_t hole = 0;
  for (;;) {
    const std::size_t first = hole * arity + 1;
    if (first >= size) break;
    const std::size_t end = std::min(first + arity, size);
    std::size_t earliest = first;
    for (std::size_t child = first + 1; child < end; ++child)
      if (before(heap_[child], heap_[earliest])) earliest = child;
    if (!before(heap_[earliest], event)) break;
    heap_[hole] = heap_[earliest];
    hole = earliest;
  }
  heap_[hole] = event;
}

}  // namespace kvsim::sim
