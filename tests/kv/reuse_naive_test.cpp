#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "kv/reuse_sequence.h"

// The reuse pool against one written for reading: tokens one by one, a cached block named by all
// tokens from the start of its sequence, and every choice a search over all blocks.

using namespace kvsim::kv;
using kvsim::testing::Sequence;

namespace {

using Token = std::pair<std::uint64_t, std::int64_t>;
using Text = std::vector<Token>;

constexpr std::size_t size = Sequence::block_tokens;

Text text_of(const KeyView& key) {
  Text out;
  for (const TokenRun& run : key.runs)
    for (std::int64_t i = 0; i < run.length; ++i) out.push_back({run.content, run.offset + i});
  out.resize(static_cast<std::size_t>(key.tokens));
  return out;
}

class NaivePool {
 public:
  explicit NaivePool(const ReusePool::Options& o) : o_(o) {
    for (std::int64_t i = 0; i < o.num_blocks; ++i) gpu_.push_back(fresh());
    for (std::int64_t i = 0; i < o.host_blocks; ++i) host_.push_back(fresh());
  }

  struct Block {
    Text name;  // from the start of the sequence to its own last token; empty: not cached
    int references = 0, priority = default_priority;
    std::int64_t released = 0;  // a clock; negative where it was put first
    std::int64_t entered = 0;
  };
  using Ptr = std::shared_ptr<Block>;
  struct Result {
    std::int64_t hit = 0, loaded = 0;
  };

  std::int64_t free() const {
    return std::ranges::count_if(gpu_, [](const Ptr& b) { return b->references == 0; });
  }
  std::int64_t host_used() const {
    return std::ranges::count_if(host_, [](const Ptr& b) { return !b->name.empty(); });
  }

  Result admit(std::vector<Ptr>& table, const Text& text) {
    Result result;
    const std::size_t limit = text.size() - 1, needed = (text.size() + size - 1) / size;
    std::size_t at = 0;
    while (o_.reuse && at + size <= limit) {
      const Ptr block = cached(Text(text.begin(), text.begin() + static_cast<long>(at + size)));
      if (!block) break;
      table.push_back(block);
      at += size;
    }
    Ptr partial;
    std::size_t common = 0;
    if (o_.reuse && o_.partial_reuse) partial = best_partial(text, at, limit, common);
    for (std::size_t i = 0; i < table.size(); ++i) {
      ++table[i]->references;
      table[i]->priority = priority_of(i, text);
    }
    if (partial) ++partial->references;
    for (const Ptr& block : table)
      if (on_host(block)) {
        bring_back(block);
        result.loaded += size;
      }
    result.hit = static_cast<std::int64_t>(at);
    if (partial) {
      result.hit += static_cast<std::int64_t>(common);
      if (!o_.copy_on_partial_reuse || free() == 0) {
        forget(partial);
        partial->priority = priority_of(table.size(), text);
        table.push_back(partial);
      } else {
        if (on_host(partial)) result.loaded += static_cast<std::int64_t>(common);
        table.push_back(take(priority_of(table.size(), text)));
        let_go(partial);
      }
    }
    while (table.size() < needed) table.push_back(take(priority_of(table.size(), text)));
    return result;
  }

  void extend(std::vector<Ptr>& table, std::int64_t prompt) {
    table.push_back(
        take(o_.retention.priority_at(static_cast<std::int64_t>(table.size() * size), prompt)));
  }

  // `done` blocks have been entered or found before.
  void store(std::vector<Ptr>& table, const Text& text, std::size_t computed, bool partial,
             std::size_t& done) {
    if (!o_.reuse) return;
    for (std::size_t i = done; i < table.size(); ++i) {
      const std::size_t from = i * size, to = std::min(from + size, computed);
      const bool full = to == from + size;
      if (to <= from || (!full && (!partial || !table[i]->name.empty()))) return;
      const Ptr parent =
          from == 0 ? nullptr : cached(Text(text.begin(), text.begin() + static_cast<long>(from)));
      if (from > 0 && (!parent || on_host(parent))) return;
      const Text name(text.begin(), text.begin() + static_cast<long>(to));
      if (full) done = i + 1;
      const Ptr known = cached(name);
      if (known && (!full || !on_host(known))) continue;
      if (known) forget(known);
      table[i]->name = name;
      table[i]->entered = ++clock_;
    }
  }

  void release(std::vector<Ptr>& table) {
    std::ranges::reverse(table);
    for (const Ptr& block : table) let_go(block);
    table.clear();
  }

 private:
  Ptr fresh() {
    auto block = std::make_shared<Block>();
    block->released = ++clock_;
    return block;
  }
  bool on_host(const Ptr& b) const { return std::ranges::count(host_, b) > 0; }
  template <class F>
  void each(F f) const {
    for (const Ptr& b : gpu_) f(b);
    for (const Ptr& b : host_) f(b);
  }
  Ptr cached(const Text& name) const {
    Ptr found;
    each([&](const Ptr& b) {
      if (b->name == name) found = b;
    });
    return found;
  }
  static bool below(const Text& name, const Text& ancestor) {
    return name.size() > ancestor.size() && !ancestor.empty() &&
           std::equal(ancestor.begin(), ancestor.end(), name.begin());
  }
  // Full blocks have children; two partly filled ones of one place are siblings.
  static bool is_descendant(const Block& b, const Block& of) {
    return of.name.size() % size == 0 && below(b.name, of.name);
  }
  Ptr best_partial(const Text& text, std::size_t at, std::size_t limit, std::size_t& common) {
    Ptr best;
    const Text before(text.begin(), text.begin() + static_cast<long>(at));
    std::int64_t oldest = 0;
    each([&](const Ptr& b) {
      if (b->name.empty() || (b->name.size() - 1) / size * size != at) return;
      if (!std::equal(before.begin(), before.end(), b->name.begin())) return;
      if (!o_.copy_on_partial_reuse && (b->references > 0 || on_host(b) || has_below(*b, true)))
        return;
      std::size_t n = 0;
      while (at + n < std::min(b->name.size(), limit) && b->name[at + n] == text[at + n]) ++n;
      if (n > common || (n == common && n > 0 && b->entered < oldest))
        best = b, common = n, oldest = b->entered;
    });
    return best;
  }
  bool has_below(const Block& b, bool host_too) const {
    bool found = false;
    for (const Ptr& other : gpu_) found |= is_descendant(*other, b);
    if (host_too)
      for (const Ptr& other : host_) found |= is_descendant(*other, b);
    return found;
  }
  void forget(const Ptr& b) {
    const Block top = *b;
    std::vector<Ptr> lost{b};
    if (!top.name.empty())
      each([&](const Ptr& other) {
        if (is_descendant(*other, top)) lost.push_back(other);
      });
    for (const Ptr& l : lost) {
      l->name.clear();
      if (l != b && l->references == 0) l->released = -(++clock_);
    }
    if (b->references == 0) b->released = -(++clock_);
  }
  void let_go(const Ptr& b) {
    if (--b->references > 0) return;
    b->released = b->name.empty() ? -(++clock_) : ++clock_;
  }
  int priority_of(std::size_t i, const Text& text) const {
    return o_.retention.priority_at(static_cast<std::int64_t>(i * size),
                                    static_cast<std::int64_t>(text.size()));
  }
  // Lowest priority, then who was released first; those put first count backwards.
  Ptr victim(const std::vector<Ptr>& level, bool host) const {
    Ptr best, any;
    const auto before = [](const Block& x, const Block& y) {
      return std::pair(x.priority, x.released) < std::pair(y.priority, y.released);
    };
    for (const Ptr& b : level) {
      if (b->references > 0) continue;
      if (!any || before(*b, *any)) any = b;
      if (!has_below(*b, host) && (!best || before(*b, *best))) best = b;
    }
    return best ? best : any;
  }
  Ptr take(int priority) {
    Ptr b = victim(gpu_, false);
    if (!b->name.empty()) {
      const bool moves = !host_.empty() && !has_below(*b, false) &&
                         b->priority >= o_.secondary_offload_min_priority &&
                         std::ranges::any_of(host_, [](const Ptr& h) { return !h->references; });
      if (moves) {
        const Ptr room = victim(host_, true);
        if (!room->name.empty()) forget(room);
        swap_levels(b, room);
        b->released = ++clock_;
        b = room;
      } else {
        forget(b);
      }
    }
    b->references = 1;
    b->priority = priority;
    return b;
  }
  void bring_back(const Ptr& b) {
    const Ptr room = take(default_priority);
    swap_levels(b, room);
    room->references = 0;
    room->released = -(++clock_);
  }
  void swap_levels(const Ptr& x, const Ptr& y) {
    const auto swap_in = [&](std::vector<Ptr>& level) {
      for (Ptr& b : level) {
        if (b == x)
          b = y;
        else if (b == y)
          b = x;
      }
    };
    swap_in(gpu_);
    swap_in(host_);
  }

  ReusePool::Options o_;
  std::vector<Ptr> gpu_, host_;
  std::int64_t clock_ = 0;
};

// Prompts that share beginnings at every place of a block.
std::vector<TokenRun> draw_prompt(std::mt19937& random) {
  const auto draw = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  std::vector<TokenRun> runs;
  runs.push_back({static_cast<std::uint64_t>(draw(1, 2)), 0, draw(1, 9)});
  if (draw(0, 2) > 0) runs.push_back({static_cast<std::uint64_t>(draw(3, 6)), 0, draw(1, 7)});
  return runs;
}

struct Running {
  std::unique_ptr<Sequence> sequence;
  BlockTable table;
  std::vector<NaivePool::Ptr> naive;
  std::int64_t computed = 0;
  std::size_t done = 0;
};

void play(unsigned seed) {
  std::mt19937 random(seed);
  const auto draw = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  ReusePool::Options o;
  o.block_tokens = Sequence::block_tokens;
  o.num_blocks = draw(5, 14);
  o.host_blocks = draw(0, 1) * draw(1, 8);
  o.partial_reuse = draw(0, 3) > 0;
  o.copy_on_partial_reuse = draw(0, 3) > 0;
  o.secondary_offload_min_priority = draw(0, 1) * 36;
  if (draw(0, 1)) o.retention.ranges = {{0, draw(1, 8), draw(0, 100)}, {8, -1, draw(0, 100)}};
  if (draw(0, 1)) o.retention.decode_priority = draw(0, 100);
  ReusePool pool(o);
  NaivePool naive(o);
  std::vector<Running> running;
  for (int op = 0; op < 120; ++op) {
    CAPTURE(op);
    const int what = draw(0, 3);
    if (what <= 1) {
      Running r;
      r.sequence = std::make_unique<Sequence>(draw_prompt(random));
      if (pool.blocks_for(r.sequence->tokens()) > pool.free()) continue;
      const auto got = pool.admit(r.table, r.sequence->key());
      const auto expected = naive.admit(r.naive, text_of(r.sequence->key().tokens));
      REQUIRE(got.hit == expected.hit);
      REQUIRE(got.loaded == expected.loaded);
      r.done = static_cast<std::size_t>(r.table.published);
      r.computed = r.sequence->tokens();
      pool.store(r.table, r.sequence->key(), r.computed, ReusePool::Tail::full_blocks);
      naive.store(r.naive, text_of(r.sequence->key().tokens), static_cast<std::size_t>(r.computed),
                  false, r.done);
      running.push_back(std::move(r));
    } else if (running.empty()) {
      continue;
    } else if (what == 2) {
      Running& r = running[random() % running.size()];
      r.sequence->grow();
      if (pool.blocks_for(r.computed + 1) > static_cast<std::int64_t>(r.table.blocks.size())) {
        if (pool.free() == 0) continue;
        pool.extend(r.table, r.sequence->prompt());
        naive.extend(r.naive, r.sequence->prompt());
      }
      ++r.computed;
    } else {
      const std::size_t k = random() % running.size();
      Running& r = running[k];
      const Text text = text_of(r.sequence->key().tokens);
      pool.store(r.table, r.sequence->key(), r.computed, ReusePool::Tail::with_partial);
      pool.release(r.table);
      naive.store(r.naive, text, static_cast<std::size_t>(r.computed), true, r.done);
      naive.release(r.naive);
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(k));
    }
    pool.verify();
    REQUIRE(pool.free() == naive.free());
    REQUIRE(pool.host_used() == naive.host_used());
  }
}

}  // namespace

TEST_CASE("the reuse pool agrees with a naive one in random worlds") {
  for (unsigned seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    play(seed);
  }
}
