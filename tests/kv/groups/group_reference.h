#pragma once
#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "kv/groups/group_manager.h"

// KV cache groups written for reading: tokens as they are, whole prefixes as keys, lists for the
// free queue and for who carries what, every choice made by trying. Without the gate on the full
// input, watermark and tails.
namespace kvsim::testing {

using Token = std::pair<std::uint64_t, std::int64_t>;  // content, offset
using Tokens = std::vector<Token>;

class ReferenceGroups {
 public:
  struct Request {
    std::vector<std::vector<int>> tables;  // per group; 0 where nothing is held
    std::vector<int> published;
    int prompt = 0, shared = 0;
  };

  explicit ReferenceGroups(const kv::GroupManager::Options& options)
      : o_(options), block_(static_cast<int>(options.blocks.block_tokens)) {
    for (int b = 1; b < static_cast<int>(options.blocks.num_blocks); ++b) queue_.push_back(b);
  }

  std::vector<int> queue() const { return {queue_.begin(), queue_.end()}; }
  void begin_step() { fresh_.clear(); }

  // The longest prefix, in blocks, that every group can go on from, and the longest that full
  // attention could.
  std::pair<int, int> lookup(const Tokens& tokens) const {
    const int most = (static_cast<int>(tokens.size()) - 1) / block_;
    int hit = 0, full = 0;
    for (int blocks = 0; o_.blocks.prefix_caching && blocks <= most; ++blocks) {
      bool all = true, in_full = has_full();
      for (int g = 0; g < groups(); ++g) {
        const bool can = goes_on(g, tokens, blocks, most);
        all = all && can;
        if (spec(g).kind == kv::GroupKind::full) in_full = in_full && can;
      }
      if (all) hit = blocks;
      if (in_full) full = blocks;
    }
    return {hit, full > hit ? full : 0};
  }

  // Tries on a copy whether the blocks are there.
  bool admit(Request& r, const Tokens& tokens, int prompt, int hit, int shared, int end) {
    for (int g = 0; g < groups(); ++g)
      if (spec(g).kind == kv::GroupKind::mamba && hit > 0 && fresh_.contains(key(g, tokens, hit)))
        return false;
    ReferenceGroups tried = *this;
    Request made;
    made.prompt = prompt;
    made.shared = shared * block_;
    for (int g = 0; g < groups(); ++g) {
      std::vector<int> table(static_cast<std::size_t>(hit), 0);
      for (int i = 0; i < hit; ++i)
        if (needed(g, tokens, i, hit)) {
          table[static_cast<std::size_t>(i)] = find(g, tokens, i + 1);
          tried.hold(table[static_cast<std::size_t>(i)]);
        }
      made.tables.push_back(table);
      made.published.push_back(hit);
    }
    for (int g = 0; g < groups(); ++g)
      if (!tried.grow(made.tables[static_cast<std::size_t>(g)], g, end)) return false;
    *this = tried;
    r = made;
    publish(r, tokens, end);
    return true;
  }

  bool extend(Request& r, int computed, int end) {
    for (int g = 0; g < groups(); ++g) give_back_unread(table(r, g), g, computed);
    ReferenceGroups tried = *this;
    Request grown = r;
    for (int g = 0; g < groups(); ++g)
      if (!tried.grow(table(grown, g), g, end)) return false;
    *this = tried;
    r = grown;
    return true;
  }

  void publish(Request& r, const Tokens& tokens, int computed) {
    if (!o_.blocks.prefix_caching) return;
    computed = std::min(computed, static_cast<int>(tokens.size()));
    for (int g = 0; g < groups(); ++g) {
      int& done = r.published[static_cast<std::size_t>(g)];
      for (; (done + 1) * block_ <= computed; ++done) {
        const int b = table(r, g)[static_cast<std::size_t>(done)];
        if (b == 0 || keys_.contains(b) || !kept(g, r, done)) continue;
        keys_[b] = key(g, tokens, done + 1);
        order_.push_back(b);
        if (spec(g).kind == kv::GroupKind::mamba) fresh_.insert(keys_[b]);
      }
    }
  }

  void free(Request& r) {
    for (int g = 0; g < groups(); ++g) {
      std::vector<int> all(table(r, g).rbegin(), table(r, g).rend());
      release(all);
    }
    r = {};
  }

 private:
  using Key = std::pair<int, Tokens>;  // group, the whole prefix

  int groups() const { return static_cast<int>(o_.groups.size()); }
  const kv::GroupSpec& spec(int g) const { return o_.groups[static_cast<std::size_t>(g)]; }
  static std::vector<int>& table(Request& r, int g) {
    return r.tables[static_cast<std::size_t>(g)];
  }
  bool has_full() const {
    return std::ranges::any_of(o_.groups,
                               [](const auto& s) { return s.kind == kv::GroupKind::full; });
  }
  Key key(int g, const Tokens& tokens, int blocks) const {
    return {g, Tokens(tokens.begin(), tokens.begin() + blocks * block_)};
  }
  int find(int g, const Tokens& tokens, int blocks) const {
    const Key wanted = key(g, tokens, blocks);
    for (const int b : order_)
      if (keys_.at(b) == wanted) return b;
    return 0;
  }
  bool drops(int g) const {
    return o_.blocks.drops_last_block &&
           (spec(g).kind == kv::GroupKind::full || spec(g).kind == kv::GroupKind::sliding_window);
  }
  // First token that a request with `computed` tokens still reads in this group.
  int first_read(int g, int computed) const {
    const kv::GroupSpec& s = spec(g);
    switch (s.kind) {
      case kv::GroupKind::full:
        return 0;
      case kv::GroupKind::sliding_window:
        return std::max(0, computed + 1 - static_cast<int>(s.window));
      case kv::GroupKind::chunked_local:
        return computed - computed % static_cast<int>(s.attention_chunk_size);
      case kv::GroupKind::mamba:
        return std::max(0, computed - 1);
    }
    return 0;
  }
  // Whether block i of a prefix of `blocks` blocks must be there to go on from it.
  bool needed(int g, const Tokens&, int i, int blocks) const {
    return (i + 1) * block_ > first_read(g, blocks * block_);
  }
  bool goes_on(int g, const Tokens& tokens, int blocks, int most) const {
    if (blocks == 0) return true;
    const int end = blocks + (drops(g) ? 1 : 0);  // a dropped block is matched too
    if (end > most) return false;
    for (int i = 0; i < end; ++i)
      if (needed(g, tokens, i, blocks) && find(g, tokens, i + 1) == 0) return false;
    return true;
  }
  // Whether some point of resume needs block i.
  bool kept(int g, const Request& r, int i) const {
    const kv::GroupSpec& s = spec(g);
    if (!o_.retention_interval || s.kind == kv::GroupKind::full ||
        s.kind == kv::GroupKind::chunked_local)
      return true;
    const int interval = static_cast<int>(*o_.retention_interval);
    const auto serves = [&](int point, bool drafter) {
      const int from = point / block_;
      const int to = from + (drafter && drops(g) ? 1 : 0);
      return i < to && needed(g, {}, i, from);
    };
    if (serves(r.prompt - 1, false)) return true;
    if (r.shared > 0 && serves(r.shared, true)) return true;
    for (int point = interval; interval > 0 && point <= (i + 2) * block_ + interval;
         point += interval)
      if (serves(point, true)) return true;
    return false;
  }

  void hold(int b) {
    if (references_[b]++ == 0) queue_.remove(b);
  }
  std::optional<int> take() {
    if (queue_.empty()) return std::nullopt;
    const int b = queue_.front();
    queue_.pop_front();
    if (keys_.erase(b) > 0) std::erase(order_, b);
    references_[b] = 1;
    return b;
  }
  void release(const std::vector<int>& blocks) {
    std::list<int> first;  // those without a key
    for (const int b : blocks)
      if (b != 0 && --references_[b] == 0) (keys_.contains(b) ? queue_ : first).push_back(b);
    queue_.splice(queue_.begin(), first);
  }
  void give_back_unread(std::vector<int>& blocks, int g, int computed) {
    std::vector<int> unread;
    for (int i = static_cast<int>(blocks.size()) - 1; i >= 0; --i) {
      int& b = blocks[static_cast<std::size_t>(i)];
      if (b == 0 || (i + 1) * block_ > first_read(g, computed)) continue;
      unread.push_back(b);
      b = 0;
    }
    release(unread);
  }
  bool grow(std::vector<int>& blocks, int g, int end) {
    const int speculative =
        spec(g).kind == kv::GroupKind::mamba ? static_cast<int>(o_.speculative_tokens) : 0;
    const bool moves =
        spec(g).kind == kv::GroupKind::mamba && o_.state_mode == kv::StateMode::align;
    const int slots = end + (moves ? 0 : static_cast<int>(o_.blocks.lookahead_tokens));
    const int places = (slots + block_ - 1) / block_;
    std::vector<int> spare;
    if (moves && places + speculative > static_cast<int>(blocks.size())) {
      // Nothing stands between the old state and the new one; what was speculative there moves.
      if (fits_moved(blocks, g))
        for (int i = static_cast<int>(blocks.size()) - speculative; i < places - 1; ++i)
          if (i < static_cast<int>(blocks.size()) && i >= 0) {
            spare.push_back(blocks[static_cast<std::size_t>(i)]);
            blocks[static_cast<std::size_t>(i)] = 0;
          }
      while (static_cast<int>(blocks.size()) < places - 1) blocks.push_back(0);
      blocks.insert(blocks.end(), spare.begin(), spare.end());
    }
    while (static_cast<int>(blocks.size()) < places + speculative) {
      const auto b = take();
      if (!b) return false;
      blocks.push_back(*b);
    }
    return true;
  }
  // Not at admission: then the table holds the state that was hit, and no speculative blocks.
  bool fits_moved(const std::vector<int>& blocks, int) const {
    return std::ranges::count_if(blocks, [](int b) { return b != 0; }) >
           static_cast<std::ptrdiff_t>(o_.speculative_tokens);
  }

  kv::GroupManager::Options o_;
  int block_;
  std::list<int> queue_;
  std::map<int, int> references_;
  std::map<int, Key> keys_;
  std::vector<int> order_;  // blocks with a key, in the order of publication
  std::set<Key> fresh_;
};

}  // namespace kvsim::testing
