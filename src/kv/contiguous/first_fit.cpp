#include <iterator>
#include <map>

#include "diag/check.h"
#include "kv/contiguous/allocator.h"

namespace kvsim::kv {
namespace {

class FirstFit final : public ContiguousAllocator {
 public:
  explicit FirstFit(std::int64_t slots) : slots_(slots) {
    KVSIM_CHECK(slots >= 1, "a pool of {} slots", slots);
    holes_[0] = slots;
  }

  std::optional<Extent> allocate(std::int64_t n) override {
    KVSIM_CHECK(n >= 1, "an extent of {} slots", n);
    for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
      const std::int64_t start = hole->first, size = hole->second;
      if (size < n) continue;
      holes_.erase(hole);
      if (size > n) holes_[start + n] = size - n;
      held_ += n;
      return Extent{start, n};
    }
    return std::nullopt;
  }

  void release(const Extent& extent) override {
    const auto after = holes_.lower_bound(extent.start);
    const bool joins_after = after != holes_.end() && after->first <= extent.start + extent.size;
    KVSIM_CHECK(!joins_after || after->first == extent.start + extent.size,
                "slots from {} are released twice", after->first);
    std::int64_t start = extent.start, size = extent.size;
    if (joins_after) size += after->second;
    if (after != holes_.begin()) {
      const auto before = std::prev(after);
      const std::int64_t end = before->first + before->second;
      KVSIM_CHECK(end <= extent.start, "slots from {} are released twice", extent.start);
      if (end == extent.start) {
        start = before->first;
        size += before->second;
      }
    }
    if (joins_after) holes_.erase(after);
    holes_[start] = size;
    held_ -= extent.size;
  }

  std::int64_t slots() const override { return slots_; }
  std::int64_t held() const override { return held_; }
  std::int64_t largest() const override { return slots_; }

  void verify() const override {
    std::int64_t free = 0, end = -1;
    for (const auto& [start, size] : holes_) {
      KVSIM_CHECK(start > end && size > 0, "the hole at {} touches the one before", start);
      end = start + size;
      free += size;
    }
    KVSIM_CHECK(end <= slots_, "a hole ends at {} of {} slots", end, slots_);
    KVSIM_CHECK(free + held_ == slots_, "{} free + {} held of {} slots", free, held_, slots_);
  }

 private:
  std::int64_t slots_, held_ = 0;
  std::map<std::int64_t, std::int64_t> holes_;  // start -> size
};

}  // namespace

std::unique_ptr<ContiguousAllocator> make_first_fit(std::int64_t slots) {
  return std::make_unique<FirstFit>(slots);
}

}  // namespace kvsim::kv
