#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/event.h"

namespace kvsim::sim {

// The events still to come, earliest first by (time, kind, sequence): equal times go by kind, equal
// kinds by the order of push(). The order is total, so what comes out never depends on the heap.
//
// A 4-ary heap over one vector. push: O(log4 n) comparisons at worst, O(1) for an event later than
// most; pop: at most 4 log4 n. No allocation once the vector has grown to the largest number of
// events held at a time (see reserve()). Holds 2^56 pushes in its lifetime.
class EventQueue {
 public:
  void push(Time time, std::uint8_t kind, std::uint32_t target, std::uint32_t payload = 0);

  // The next event. Precondition for both: not empty().
  const Event& top() const { return heap_.front(); }
  Event pop();

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  std::size_t capacity() const { return heap_.capacity(); }
  void reserve(std::size_t events) { heap_.reserve(events); }

 private:
  void sift_down(const Event& event);

  std::vector<Event> heap_;
  std::uint64_t pushed_ = 0;
};

}  // namespace kvsim::sim
