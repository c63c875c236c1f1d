#include <algorithm>
#include <array>
#include <bit>
#include <set>

#include "diag/check.h"
#include "kv/contiguous/allocator.h"

namespace kvsim::kv {
namespace {

class Buddy final : public ContiguousAllocator {
 public:
  explicit Buddy(std::int64_t slots) : slots_(slots) {
    KVSIM_CHECK(slots >= 1, "a pool of {} slots", slots);
    std::int64_t start = 0;
    for (int order = orders - 1; order >= 0; --order) {
      const std::int64_t size = std::int64_t{1} << order;
      if ((slots & size) == 0) continue;
      at(order).insert(start);
      start += size;
    }
  }

  std::optional<Extent> allocate(std::int64_t n) override {
    KVSIM_CHECK(n >= 1, "an extent of {} slots", n);
    const int wanted = order_of(n);
    int order = wanted;
    while (order < orders && at(order).empty()) ++order;
    if (order >= orders) return std::nullopt;
    const std::int64_t start = *at(order).begin();
    at(order).erase(at(order).begin());
    while (order > wanted) {
      --order;
      at(order).insert(start + (std::int64_t{1} << order));
    }
    const std::int64_t size = std::int64_t{1} << wanted;
    held_ += size;
    return Extent{start, size};
  }

  void release(const Extent& extent) override {
    int order = order_of(extent.size);
    std::int64_t start = extent.start;
    held_ -= extent.size;
    // A buddy that reaches beyond the pool is never free as a whole.
    for (; order + 1 < orders; ++order) {
      const auto buddy = at(order).find(start ^ (std::int64_t{1} << order));
      if (buddy == at(order).end()) break;
      start = std::min(start, *buddy);
      at(order).erase(buddy);
    }
    KVSIM_CHECK(at(order).insert(start).second, "the block at {} is released twice", start);
  }

  std::int64_t slots() const override { return slots_; }
  std::int64_t held() const override { return held_; }
  std::int64_t largest() const override {
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(slots_)));
  }

  void verify() const override {
    std::int64_t free = 0;
    std::set<std::int64_t> taken;  // starts of free blocks of any size
    for (int order = 0; order < orders; ++order) {
      const std::int64_t size = std::int64_t{1} << order;
      for (const std::int64_t start : at(order)) {
        KVSIM_CHECK(start % size == 0 && start + size <= slots_, "a free block of {} lies at {}",
                    size, start);
        KVSIM_CHECK(at(order).count(start ^ size) == 0, "buddies at {} of size {} are not joined",
                    start, size);
        KVSIM_CHECK(taken.insert(start).second, "two free blocks at {}", start);
        free += size;
      }
    }
    KVSIM_CHECK(free + held_ == slots_, "{} free + {} held of {} slots", free, held_, slots_);
  }

 private:
  static constexpr int orders = 48;
  static int order_of(std::int64_t n) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
  }
  std::set<std::int64_t>& at(int order) { return free_[static_cast<std::size_t>(order)]; }
  const std::set<std::int64_t>& at(int order) const {
    return free_[static_cast<std::size_t>(order)];
  }

  std::int64_t slots_, held_ = 0;
  std::array<std::set<std::int64_t>, orders> free_;  // places of the free blocks of 2^order slots
};

}  // namespace

std::unique_ptr<ContiguousAllocator> make_buddy(std::int64_t slots) {
  return std::make_unique<Buddy>(slots);
}

}  // namespace kvsim::kv
