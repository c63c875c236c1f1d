#include "kv/groups/group_lookup.h"

#include <algorithm>
#include <numeric>

#include "kv/groups/group_table.h"
#include "kv/run_hash.h"

namespace kvsim::kv {

BlockHash group_hash(BlockHash prefix, std::size_t group) {
  if (group == 0) return prefix;
  const BlockHash hash = finish(fold(prefix, group));
  return hash == 0 ? 1 : hash;
}

GroupLookup::GroupLookup(const BlockPool& pool, const Options& options)
    : pool_(pool),
      options_(options),
      alignment_(options.hash_tokens),
      hits_(options.groups.size()) {
  for (std::size_t g = 0; g < options.groups.size(); ++g) {
    const GroupSpec& spec = options.groups[g];
    if (!options.tails) alignment_ = std::lcm(alignment_, spec.block_tokens);
    const auto same = std::ranges::find(kinds_, spec, &Kind::spec);
    if (same != kinds_.end())
      same->groups.push_back(g);
    else
      kinds_.push_back({spec, {g}});
  }
  std::stable_partition(kinds_.begin(), kinds_.end(),
                        [](const Kind& kind) { return kind.spec.kind == GroupKind::full; });
}

void GroupLookup::clear() {
  for (auto& blocks : hits_) blocks.clear();
}

GroupLookup::Hit GroupLookup::find(TokenChain& chain) {
  const std::int64_t limit = chain.tokens() - 1;
  const bool full = kinds_.front().spec.kind == GroupKind::full;
  // One pass is exact: what the other kind finds is a prefix of what full attention has.
  const bool once = kinds_.size() == 1 || (kinds_.size() == 2 && full);
  std::int64_t tokens = limit, in_full = 0;
  for (bool first = true;; first = false) {
    std::int64_t current = tokens;
    for (const Kind& kind : kinds_) {
      if (kind.spec.kind != GroupKind::full) {
        const bool further =
            options_.drops_last_block && kind.spec.kind == GroupKind::sliding_window;
        const std::int64_t to =
            further ? std::min(current + kind.spec.block_tokens, limit) : current;
        current = std::min(current, longest(kind, chain, to));
      } else if (first) {
        current = in_full = longest(kind, chain, current);
      }
    }
    const bool settled = current >= tokens || once;
    tokens = current;
    if (settled) break;
  }
  for (const Kind& kind : kinds_) resize(kind, kind.spec.blocks(tokens));
  Hit hit{tokens, 0};
  if (full && in_full > tokens) {
    const std::int64_t block = kinds_.front().spec.block_tokens;
    hit.shared = in_full / block * block;
  }
  return hit;
}

bool GroupLookup::find_all(const Kind& kind, TokenChain& chain, std::int64_t tokens) {
  const BlockHash prefix = chain.block_hash(tokens / options_.hash_tokens - 1);
  found_.clear();
  for (const std::size_t g : kind.groups) {
    const BlockId block = pool_.find(group_hash(prefix, g));
    if (block == no_block) return false;
    found_.push_back(block);
  }
  return true;
}

void GroupLookup::push_found(const Kind& kind) {
  for (std::size_t i = 0; i < kind.groups.size(); ++i) hits_[kind.groups[i]].push_back(found_[i]);
}

void GroupLookup::resize(const Kind& kind, std::int64_t blocks) {
  for (const std::size_t g : kind.groups)
    hits_[g].resize(static_cast<std::size_t>(blocks), null_block);
}

std::int64_t GroupLookup::aligned(const Kind& kind, std::int64_t blocks) const {
  while (blocks * kind.spec.block_tokens % alignment_ != 0) --blocks;
  return blocks;
}

std::int64_t GroupLookup::longest(const Kind& kind, TokenChain& chain, std::int64_t limit) {
  resize(kind, 0);
  switch (kind.spec.kind) {
    case GroupKind::full:
      return full_prefix(kind, chain, limit);
    case GroupKind::sliding_window:
      return window_prefix(kind, chain, limit);
    case GroupKind::chunked_local:
      return chunk_prefix(kind, chain, limit);
    case GroupKind::mamba:
      return state_prefix(kind, chain, limit);
  }
  return 0;
}

std::int64_t GroupLookup::full_prefix(const Kind& kind, TokenChain& chain, std::int64_t limit) {
  const std::int64_t block = kind.spec.block_tokens, unit = options_.hash_tokens;
  std::int64_t tokens = 0, blocks = 0;
  for (; tokens + block <= limit && find_all(kind, chain, tokens + block); tokens += block) {
    push_found(kind);
    ++blocks;
  }
  if (options_.tails) {
    std::int64_t point = std::min(limit, tokens + block - unit) / unit * unit;
    while (point > tokens && !find_all(kind, chain, point)) point -= unit;
    if (point > tokens) {
      push_found(kind);
      ++blocks;
      tokens = point;
    }
  }
  if (options_.drops_last_block && blocks > 0) tokens = --blocks * block;
  if (!options_.tails) tokens = aligned(kind, blocks) * block;
  return tokens;
}

std::int64_t GroupLookup::window_prefix(const Kind& kind, TokenChain& chain, std::int64_t limit) {
  const std::int64_t block = kind.spec.block_tokens, most = limit / block;
  // A window of one token reads no block, and yet goes on only from one that is cached.
  const std::int64_t need = std::max<std::int64_t>(
      kind.spec.blocks(kind.spec.window - 1) + (options_.drops_last_block ? 1 : 0), 1);
  resize(kind, most);
  std::int64_t end = 0, run = 0;
  for (std::int64_t i = most - 1; i >= 0 && run < need; --i) {
    const bool may_end = options_.tails || (i + 1) * block % alignment_ == 0;
    if ((run == 0 && !may_end) || !find_all(kind, chain, (i + 1) * block)) {
      run = 0;
      continue;
    }
    if (run++ == 0) end = i + 1;
    for (std::size_t k = 0; k < kind.groups.size(); ++k)
      hits_[kind.groups[k]][static_cast<std::size_t>(i)] = found_[k];
  }
  if (run == 0) end = 0;
  if (options_.drops_last_block && end > 0) --end;
  return end * block;
}

std::int64_t GroupLookup::chunk_prefix(const Kind& kind, TokenChain& chain, std::int64_t limit) {
  const std::int64_t block = kind.spec.block_tokens;
  std::int64_t blocks = kind.spec.skipped_blocks(limit);
  resize(kind, blocks);
  for (; (blocks + 1) * block <= limit && find_all(kind, chain, (blocks + 1) * block); ++blocks)
    push_found(kind);
  return (options_.tails ? blocks : aligned(kind, blocks)) * block;
}

std::int64_t GroupLookup::state_prefix(const Kind& kind, TokenChain& chain, std::int64_t limit) {
  const std::int64_t step =
      options_.tails ? options_.hash_tokens : std::lcm(kind.spec.block_tokens, alignment_);
  std::int64_t point = limit / step * step;
  while (point > 0 && !find_all(kind, chain, point)) point -= step;
  if (point > 0) {
    resize(kind, kind.spec.blocks(point) - 1);
    push_found(kind);
  }
  return point;
}

}  // namespace kvsim::kv
