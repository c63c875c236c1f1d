
#include "diag/check.h"
#include "kv/reuse/reuse_pool.h"

// The tree inside a ReusePool: who enters, who leaves, and what holds of it.
namespace kvsim::kv {

void ReusePool::store(BlockTable& table, const ReuseKey& key, std::int64_t computed, Tail tail) {
  if (!options_.reuse) return;
  const std::int64_t size = options_.block_tokens, full = computed / size;
  BlockId parent = no_block;
  // False: what comes before has left the tree, or for the host, and nothing can hang from it.
  const auto has_place = [&](std::int64_t i) {
    if (i == 0) return true;
    parent = find(key.chain->block_hash(i - 1));
    return parent != no_block && at(parent).level == CacheLevel::primary;
  };
  for (; table.published < full; ++table.published) {
    const std::int64_t i = table.published;
    if (!has_place(i)) return;
    const BlockHash hash = key.chain->block_hash(i);
    const BlockId known = find(hash);
    if (known != no_block && at(known).level == CacheLevel::primary) continue;
    // Computed again beside its copy on the host: blocks on the GPU come first along a path.
    if (known != no_block) {
      leave(known);
      if (at(known).references == 0) {
        queues_.remove(known);
        enqueue(known);
      }
    }
    enter(table.blocks[static_cast<std::size_t>(i)], parent, key, i * size, size, hash);
  }
  const std::int64_t rest = computed - full * size;
  if (tail == Tail::full_blocks || rest == 0) return;
  const BlockId block = table.blocks[static_cast<std::size_t>(full)];
  if (at(block).in_tree || !has_place(full)) return;
  enter(block, parent, key, full * size, rest, 0);
}

void ReusePool::enter(BlockId block, BlockId parent, const ReuseKey& key, std::int64_t from,
                      std::int64_t tokens, BlockHash hash) {
  Block& b = at(block);
  RunCursor here{key.tokens.runs};
  here.advance(from);
  const std::uint64_t family = family_of(parent, key.tokens.extra_key, here);
  if (hash == 0) {
    for (BlockId kin = family_bucket(family); kin != no_block; kin = at(kin).next_kin) {
      const Block& other = at(kin);
      if (other.family == family && other.parent == parent && other.tokens == tokens &&
          common_tokens(here, RunCursor{other.runs}, tokens) == tokens)
        return;
    }
  }
  copy_tokens(here, tokens, b.runs);
  b.tokens = static_cast<std::int32_t>(tokens);
  b.hash = hash;
  b.family = family;
  b.parent = parent;
  b.in_tree = true;
  index(block);
  if (parent == no_block) return;
  Block& p = at(parent);
  b.sibling = p.child;
  if (p.child != no_block) at(p.child).previous_sibling = block;
  p.child = block;
  ++p.children;
  ++p.primary_children;
}

void ReusePool::index(BlockId block) {
  Block& b = at(block);
  BlockId& newest = family_bucket(b.family);
  b.next_kin = newest;
  b.previous_kin = no_block;
  if (newest != no_block) at(newest).previous_kin = block;
  newest = block;
  if (b.hash == 0) return;
  BlockId& head = full_bucket(b.hash);
  b.next_full = head;
  head = block;
}

void ReusePool::unindex(BlockId block) {
  Block& b = at(block);
  (b.previous_kin == no_block ? family_bucket(b.family) : at(b.previous_kin).next_kin) = b.next_kin;
  if (b.next_kin != no_block) at(b.next_kin).previous_kin = b.previous_kin;
  b.next_kin = b.previous_kin = no_block;
  if (b.hash == 0) return;
  BlockId* link = &full_bucket(b.hash);
  while (*link != block) link = &at(*link).next_full;
  *link = b.next_full;
  b.next_full = no_block;
}

void ReusePool::leave(BlockId block) {
  Block& b = at(block);
  while (b.child != no_block) {
    const BlockId child = b.child;
    leave(child);
    // Nothing finds it any more.
    if (at(child).references == 0) {
      queues_.remove(child);
      enqueue(child);
    }
  }
  unindex(block);
  if (b.level == CacheLevel::secondary) --host_cached_;
  if (b.references == 0 || b.level == CacheLevel::secondary) ++evictions_;
  if (b.parent != no_block) {
    Block& p = at(b.parent);
    (b.previous_sibling == no_block ? p.child : at(b.previous_sibling).sibling) = b.sibling;
    if (b.sibling != no_block) at(b.sibling).previous_sibling = b.previous_sibling;
    --p.children;
    if (b.level == CacheLevel::primary) --p.primary_children;
  }
  b.parent = b.sibling = b.previous_sibling = no_block;
  b.hash = 0;
  b.tokens = 0;
  b.runs.clear();
  b.in_tree = false;
}

void ReusePool::verify() const {
  std::int64_t primary = 0, full = 0, host_cached = 0, in_tree = 0, in_families = 0;
  std::int64_t indexed = 0;
  for (BlockId id = 0; id < static_cast<BlockId>(blocks_.size()); ++id) {
    const Block& b = at(id);
    primary += b.level == CacheLevel::primary;
    host_cached += b.in_tree && b.level == CacheLevel::secondary;
    in_tree += b.in_tree;
    full += b.in_tree && b.hash != 0;
    KVSIM_CHECK(b.references >= 0, "block {} has {} references", id, b.references);
    KVSIM_CHECK(queues_.contains(id) == (b.references == 0), "block {} is held {} times and {}", id,
                b.references, queues_.contains(id) ? "free" : "not free");
    KVSIM_CHECK(b.references == 0 || b.level == CacheLevel::primary, "block {} is held on the host",
                id);
    KVSIM_CHECK(b.in_tree || (b.parent == no_block && b.child == no_block),
                "block {} has relatives outside the tree", id);
    std::int32_t children = 0, primary_children = 0;
    for (BlockId c = b.child; c != no_block; c = at(c).sibling) {
      KVSIM_CHECK(at(c).parent == id && at(c).in_tree, "block {} is no child of {}", c, id);
      ++children;
      primary_children += at(c).level == CacheLevel::primary;
    }
    KVSIM_CHECK(children == b.children && primary_children == b.primary_children,
                "block {} counts {} children, has {}", id, b.children, children);
    KVSIM_CHECK(b.primary_children == 0 || b.level == CacheLevel::primary,
                "block {} is on the host and a child of it is not", id);
    KVSIM_CHECK(b.hash == 0 || find(b.hash) == id, "block {} is not found by its hash", id);
  }
  for (const BlockId head : families_)
    for (BlockId kin = head; kin != no_block; kin = at(kin).next_kin) {
      KVSIM_CHECK(at(kin).in_tree, "block {} has a family outside the tree", kin);
      ++in_families;
    }
  for (const BlockId head : full_)
    for (BlockId block = head; block != no_block; block = at(block).next_full) ++indexed;
  KVSIM_CHECK(primary == options_.num_blocks, "{} blocks on the GPU of {}", primary,
              options_.num_blocks);
  KVSIM_CHECK(full == indexed, "{} full blocks in the tree, {} in the index", full, indexed);
  KVSIM_CHECK(in_tree == in_families, "{} blocks in the tree, {} in families", in_tree,
              in_families);
  KVSIM_CHECK(host_cached == host_cached_, "{} cached blocks on the host, {} counted", host_cached,
              host_cached_);
}

}  // namespace kvsim::kv
