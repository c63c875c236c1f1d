#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

// The CPU offload manager with plain lists that are searched from end to end: what
// kv/tiers/offload_manager.h promises, in as few words as possible.
namespace kvsim::testing {

class ReferenceOffload {
 public:
  using Key = std::uint64_t;
  using Keys = std::vector<Key>;
  enum class State { pending, ready };
  struct Block {
    State state = State::pending;
    int loads = 0, id = 0;
  };
  struct Stored {
    Keys keys, evicted;
    std::vector<int> blocks;
  };

  ReferenceOffload(int capacity, bool arc, int threshold, std::size_t tracked)
      : n(capacity), is_arc(arc), threshold_(threshold), tracked_(tracked) {}

  int n;
  bool is_arc;
  std::map<Key, Block> blocks;
  Keys lru, t1, t2, b1, b2;  // from the oldest
  double target = 0;

  static bool has(const Keys& list, Key key) { return std::ranges::find(list, key) != list.end(); }
  static void take(Keys& list, Key key) { std::erase(list, key); }
  static void last(Keys& list, Key key) { take(list, key), list.push_back(key); }
  int free() const { return n - static_cast<int>(blocks.size()); }
  int count(bool (*is)(const Block&)) const {
    return static_cast<int>(
        std::ranges::count_if(blocks, [&](const auto& entry) { return is(entry.second); }));
  }

  void lookup(Key key) {
    if (threshold_ < 2) return;
    const auto found = std::ranges::find(seen_, key, &Seen::key);
    const int before = found == seen_.end() ? 0 : found->times;
    if (found != seen_.end())
      seen_.erase(found);
    else if (seen_.size() >= tracked_)
      seen_.erase(seen_.begin());
    seen_.push_back({key, before + 1});
  }

  void touch(const Keys& keys) {
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) {
      if (has(lru, *key)) last(lru, *key);
      if (has(t1, *key)) {
        const bool ready = blocks.at(*key).state == State::ready;
        if (ready) take(t1, *key);
        last(ready ? t2 : t1, *key);
      } else if (has(t2, *key)) {
        last(t2, *key);
      } else if (has(b1, *key)) {
        target = std::min<double>(n, target + std::max(1.0, ratio(b2, b1)));
        last(b1, *key);
      } else if (has(b2, *key)) {
        target = std::max(0.0, target - std::max(1.0, ratio(b1, b2)));
        last(b2, *key);
      }
    }
  }

  std::optional<Stored> prepare_store(const Keys& keys) {
    Stored out;
    for (const Key key : keys)
      if (!blocks.contains(key) && times(key) >= threshold_) out.keys.push_back(key);
    const ReferenceOffload before = *this;
    while (free() < static_cast<int>(out.keys.size())) {
      const std::optional<Key> victim = choose(keys);
      if (!victim) {
        *this = before;
        return std::nullopt;
      }
      out.evicted.push_back(*victim);
      freed_.push_back(blocks.at(*victim).id);
      blocks.erase(*victim);
    }
    if (!out.evicted.empty())
      for (Keys* ghosts : {&b1, &b2})
        while (static_cast<int>(ghosts->size()) > n) ghosts->erase(ghosts->begin());
    for (const Key key : out.keys) {
      Block block;
      if (fresh_ < n) {
        block.id = fresh_++;
      } else {
        block.id = freed_.back();
        freed_.pop_back();
      }
      out.blocks.push_back(block.id);
      blocks[key] = block;
      take(b1, key), take(b2, key);
      if (is_arc) t1.push_back(key);
    }
    return out;
  }

  void complete_store(const Keys& keys, bool success) {
    for (const Key key : keys) {
      if (success) {
        blocks.at(key).state = State::ready;
        if (!is_arc) lru.push_back(key);
      } else {
        freed_.push_back(blocks.at(key).id);
        blocks.erase(key);
        take(t1, key);
      }
    }
  }

  void prepare_load(const Keys& keys) {
    for (const Key key : keys) ++blocks.at(key).loads, take(lru, key);
  }
  void complete_load(const Keys& keys) {
    for (const Key key : keys)
      if (--blocks.at(key).loads == 0 && !is_arc) lru.push_back(key);
  }

  void reset() {
    const auto seen = seen_;
    *this = ReferenceOffload(n, is_arc, threshold_, tracked_);
    seen_ = seen;
  }

 private:
  struct Seen {
    Key key;
    int times;
  };
  static double ratio(const Keys& other, const Keys& own) {
    return static_cast<double>(other.size()) / static_cast<double>(own.size());
  }
  int times(Key key) const {
    if (threshold_ < 2) return threshold_;
    const auto found = std::ranges::find(seen_, key, &Seen::key);
    return found == seen_.end() ? 0 : found->times;
  }
  std::optional<Key> idle_of(const Keys& list, const Keys& spared) const {
    for (const Key key : list) {
      const Block& block = blocks.at(key);
      if (block.state == State::ready && block.loads == 0 && !has(spared, key)) return key;
    }
    return std::nullopt;
  }
  // Takes the next victim out of its list, to the ghosts with arc.
  std::optional<Key> choose(const Keys& spared) {
    std::optional<Key> victim;
    if (!is_arc) {
      victim = idle_of(lru, spared);
      if (victim) take(lru, *victim);
      return victim;
    }
    if (static_cast<double>(t1.size()) >= std::floor(target)) victim = idle_of(t1, spared);
    if (victim) {
      take(t1, *victim), b1.push_back(*victim);
      return victim;
    }
    victim = idle_of(t2, spared);
    if (victim) take(t2, *victim), b2.push_back(*victim);
    return victim;
  }

  int threshold_;
  std::size_t tracked_;
  std::vector<Seen> seen_;  // from the longest ago
  std::vector<int> freed_;
  int fresh_ = 0;
};

}  // namespace kvsim::testing
