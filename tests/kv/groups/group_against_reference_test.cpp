#include <doctest/doctest.h>

#include <map>
#include <random>
#include <vector>

#include "kv/groups/group_reference.h"

using namespace kvsim::kv;
using kvsim::testing::ReferenceGroups;
using kvsim::testing::Tokens;

namespace {

constexpr int block = 4;

class World {
 public:
  explicit World(unsigned seed)
      : random_(seed), options_(make_options()), manager_(options_), reference_(options_) {}

  void run(int operations) {
    for (int i = 0; i < operations; ++i) {
      if (i % 3 == 0) {
        manager_.end_step();
        manager_.begin_step();
        reference_.begin_step();
      }
      const int id = draw(0, 4);
      const auto at = requests_.find(id);
      if (at == requests_.end())
        admit(id);
      else if (draw(0, 9) == 0)
        free(id);
      else
        step(at->second);
      compare();
    }
  }
  int admitted = 0, hits = 0, refused = 0;

 private:
  struct Request {
    GroupTable table;
    TokenChain chain;
    ReferenceGroups::Request reference;
    Tokens tokens;
    std::uint64_t output = 0;
    int outputs = 0, prompt = 0, computed = 0;
  };

  int draw(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
  }

  GroupManager::Options make_options() {
    GroupManager::Options o;
    o.blocks.num_blocks = draw(12, 50);
    o.blocks.block_tokens = block;
    o.blocks.prefix_caching = draw(0, 7) > 0;
    o.blocks.max_model_len = 1 << 20;
    o.blocks.drops_last_block = draw(0, 3) == 0;
    o.blocks.lookahead_tokens = draw(0, 2) == 0 ? draw(1, 3) : 0;
    o.speculative_tokens = draw(0, 2) == 0 ? draw(1, 3) : 0;
    o.largest_chunk = 1 << 20;
    o.in_flight_tokens = 1 << 20;
    if (const int kind = draw(0, 2); kind < 2)
      o.retention_interval = kind * block * draw(1, 3);
    else
      o.retention_interval.reset();
    o.state_mode = !o.blocks.prefix_caching ? StateMode::none
                   : draw(0, 2) == 0        ? StateMode::all
                                            : StateMode::align;
    if (draw(0, 4) > 0) o.groups.push_back({GroupKind::full, block, 0, 0});
    const int more = draw(o.groups.empty() ? 1 : 0, 2);
    for (int i = 0; i < more; ++i) {
      const int kind = draw(0, 2);
      if (kind == 0) o.groups.push_back({GroupKind::sliding_window, block, draw(2, 14), 0});
      // Chunks of whole blocks: others count a block of the chunk before unseen.
      if (kind == 1) o.groups.push_back({GroupKind::chunked_local, block, 0, block * draw(1, 4)});
      if (kind == 2) o.groups.push_back({GroupKind::mamba, block, 0, 0});
    }
    return o;
  }

  void append(Request& r, std::uint64_t content, int length) {
    for (int i = 0; i < length; ++i) r.tokens.emplace_back(content, i);
    r.chain.append({content, 0, length});
  }

  void admit(int id) {
    Request r;
    r.output = 1000 + static_cast<std::uint64_t>(++names_);
    r.chain.reset(0, r.output, manager_.hash_tokens());
    // Prompts leave a few common ones at few places, or repeat one with what it answered.
    for (int parts = draw(1, 3), part = 0; part < parts; ++part)
      append(r, static_cast<std::uint64_t>(10 * part + draw(0, 1)), draw(1, 4) * draw(1, 3));
    r.prompt = static_cast<int>(r.tokens.size());

    const GroupLookup::Hit hit = manager_.lookup(r.chain);
    const auto [blocks, shared] = reference_.lookup(r.tokens);
    REQUIRE(hit.tokens == blocks * block);
    REQUIRE(hit.shared == shared * block);
    const int left = r.prompt - static_cast<int>(hit.tokens);
    const std::int64_t n = manager_.cut_chunk(
        {hit.tokens, std::min(left, draw(block, 20)), r.prompt, r.prompt, hit.shared});
    if (n == 0) return;
    const int end = static_cast<int>(hit.tokens + n);
    const bool ok = manager_.admit(
        r.table, r.chain,
        {r.prompt, hit, n, BlockManager::FullInput::may_wait, BlockManager::Others::none_running});
    REQUIRE(ok == reference_.admit(r.reference, r.tokens, r.prompt, blocks, shared, end));
    refused += !ok;
    if (!ok) return;
    ++admitted;
    hits += blocks > 0;
    r.computed = end;
    requests_.emplace(id, std::move(r));
  }

  void step(Request& r) {
    int known = static_cast<int>(r.tokens.size());
    int n = 0, accepted = 0;
    if (r.computed == known) {
      r.tokens.emplace_back(r.output, r.outputs++);
      ++known;
    }
    if (r.computed + 1 == known && known > r.prompt) {
      const int drafts = draw(0, static_cast<int>(options_.speculative_tokens));
      n = 1 + drafts;
      accepted = draw(0, drafts);
    } else {
      n = static_cast<int>(
          manager_.cut_chunk({r.computed, std::min(known - r.computed, draw(block, 20)), known,
                              r.prompt, r.table.shared_prefix}));
      if (n == 0) return;
    }
    r.chain.grow_to(known);
    const bool ok = manager_.extend(r.table, r.computed, r.computed, n);
    REQUIRE(ok == reference_.extend(r.reference, r.computed, r.computed + n));
    refused += !ok;
    if (!ok) return;
    const int end = std::min(r.computed + n, known);
    manager_.publish(r.table, r.chain, end);
    reference_.publish(r.reference, r.tokens, end);
    for (int i = 0; i < accepted; ++i) r.tokens.emplace_back(r.output, r.outputs++);
    r.computed = end + accepted;
  }

  void free(int id) {
    Request& r = requests_.at(id);
    manager_.free(r.table);
    reference_.free(r.reference);
    requests_.erase(id);
  }

  void compare() {
    const std::vector<BlockId> queue = manager_.pool().queue();
    REQUIRE(queue == reference_.queue());
    manager_.pool().verify();
    std::map<BlockId, int> held;
    for (const auto& [id, r] : requests_) {
      std::int64_t count = 0;
      for (std::size_t g = 0; g < manager_.groups(); ++g) {
        REQUIRE(r.table.groups[g].blocks == r.reference.tables[g]);
        for (const BlockId b : r.table.groups[g].blocks)
          if (b != null_block) ++held[b], ++count;
      }
      REQUIRE(manager_.held(r.table) == count);
    }
    for (BlockId b = 1; b <= manager_.pool().usable(); ++b)
      REQUIRE(manager_.pool().references(b) == held[b]);
  }

  std::mt19937 random_;
  GroupManager::Options options_;
  GroupManager manager_;
  ReferenceGroups reference_;
  std::map<int, Request> requests_;
  int names_ = 0;
};

}  // namespace

TEST_CASE("Groups agree with a naive manager after every operation") {
  int admitted = 0, hits = 0, refused = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    CAPTURE(seed);
    World world(seed);
    world.run(120);
    admitted += world.admitted;
    hits += world.hits;
    refused += world.refused;
  }
  CHECK(admitted > 4000);
  CHECK(hits > 800);
  CHECK(refused > 2000);
}
