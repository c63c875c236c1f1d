#include "kv/groups/group_manager.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace kvsim::kv {
namespace {

bool has_states(const GroupManager::Options& options) {
  return std::ranges::any_of(options.groups,
                             [](const GroupSpec& spec) { return spec.kind == GroupKind::mamba; });
}

bool keeps_tails(const GroupManager::Options& options) {
  return options.match_unit > 0 && options.match_unit < options.blocks.block_tokens &&
         options.blocks.prefix_caching && options.state_mode == StateMode::align &&
         has_states(options);
}

std::int64_t tokens_per_hash(const GroupManager::Options& options) {
  if (keeps_tails(options)) return options.match_unit;
  if (!options.blocks.prefix_caching) return options.blocks.block_tokens;
  std::int64_t common = 0;
  for (const GroupSpec& spec : options.groups) common = std::gcd(common, spec.block_tokens);
  return common;
}

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

std::int64_t size(const std::vector<BlockId>& blocks) {
  return static_cast<std::int64_t>(blocks.size());
}

}  // namespace

GroupManager::GroupManager(const Options& options)
    : options_(options),
      hash_tokens_(tokens_per_hash(options)),
      tails_(keeps_tails(options)),
      cuts_chunks_(options.state_mode == StateMode::align && has_states(options)),
      chunks_{options.blocks.block_tokens,
              tails_ ? options.match_unit : options.blocks.block_tokens, options.largest_chunk,
              options.blocks.drops_last_block},
      retention_{options.retention_interval, options.blocks.drops_last_block},
      pool_(options.blocks.num_blocks, tails_ ? BlockPool::Tails::kept : BlockPool::Tails::none,
            options.blocks.freed_blocks),
      lookup_(pool_, {options.groups, hash_tokens_, tails_, options.blocks.drops_last_block}),
      watermark_blocks_(static_cast<std::int64_t>(options.blocks.watermark *
                                                  static_cast<double>(options.blocks.num_blocks))),
      pinned_(options.groups.size()) {}

void GroupManager::end_step() {
  for (auto& blocks : pinned_) {
    pool_.release(blocks);
    blocks.clear();
  }
}

std::int64_t GroupManager::slots(std::int64_t tokens) const {
  return std::min(tokens + options_.blocks.lookahead_tokens, options_.blocks.max_model_len);
}

// The last multiple of the match unit in a prompt, where it lies inside a block; else 0.
std::int64_t GroupManager::tail_point(std::int64_t prompt) const {
  if (!tails_) return 0;
  const std::int64_t point = prompt / hash_tokens_ * hash_tokens_;
  return point % block_tokens() == 0 ? 0 : point;
}

GroupLookup::Hit GroupManager::lookup(TokenChain& chain) {
  if (options_.blocks.prefix_caching) return lookup_.find(chain);
  lookup_.clear();
  return {};
}

bool GroupManager::hits_fresh_state(TokenChain& chain, std::int64_t hit) const {
  if (hit == 0 || fresh_states_.empty()) return false;
  const BlockHash prefix = chain.block_hash(hit / hash_tokens_ - 1);
  for (std::size_t g = 0; g < groups(); ++g)
    if (options_.groups[g].kind == GroupKind::mamba &&
        fresh_states_.contains(group_hash(prefix, g)))
      return true;
  return false;
}

// Blocks that leave the free queue when a request is admitted with `hit` tokens found and gets
// slots for `tokens`.
std::int64_t GroupManager::admission_need(std::size_t group, std::int64_t hit, std::int64_t tokens,
                                          Cap cap) const {
  const GroupSpec& spec = options_.groups[group];
  const std::vector<BlockId>& hits = lookup_.blocks(group);
  const std::int64_t skipped = spec.skipped_blocks(hit), copies = cut(hit) ? 1 : 0;
  // Hit blocks that nobody holds stand in the free queue and leave it by being hit.
  std::int64_t evictable = 0;
  for (std::int64_t i = skipped; i < size(hits); ++i)
    evictable += hits[index(i)] != null_block && pool_.references(hits[index(i)]) == 0;
  std::int64_t fresh = 0;
  if (aligned_states(spec)) {
    const std::int64_t states = 1 + options_.speculative_tokens;
    const bool grows = spec.blocks(tokens) - 1 + states > size(hits);
    fresh = grows || copies > 0 ? states : 0;
  } else {
    // The gate looks at the input alone.
    std::int64_t required =
        spec.blocks(cap == Cap::gate ? tokens : slots(tokens)) + speculative_blocks(spec);
    if (cap == Cap::gate)
      required = std::min(
          required, spec.admission_cap(options_.in_flight_tokens, options_.blocks.max_model_len)
                        .value_or(required));
    fresh = std::max<std::int64_t>(0, required - std::max(skipped, size(hits)));
  }
  return fresh + evictable + copies;
}

bool GroupManager::admit(GroupTable& table, TokenChain& chain, const Admission& a) {
  const std::int64_t hit = a.hit.tokens;
  if (hits_fresh_state(chain, hit)) return false;
  const std::int64_t reserve =
      a.others == BlockManager::Others::some_running ? watermark_blocks_ : 0;
  const auto fits = [&](std::int64_t tokens, Cap cap) {
    std::int64_t need = reserve;
    for (std::size_t g = 0; g < groups(); ++g) need += admission_need(g, hit, tokens, cap);
    return need <= pool_.free();
  };
  const std::int64_t all = std::min(chain.tokens(), options_.blocks.max_model_len);
  if (a.gate == BlockManager::FullInput::must_fit && !fits(all, Cap::gate)) return false;
  if (!fits(hit + a.tokens, Cap::none)) return false;

  table.groups.resize(groups());
  table.prompt_tokens = a.prompt_tokens;
  table.shared_prefix = a.hit.shared;
  for (std::size_t g = 0; g < groups(); ++g) {
    const GroupSpec& spec = options_.groups[g];
    GroupTable::Group& group = table.groups[g];
    group.blocks = lookup_.blocks(g);
    group.published = hit / spec.block_tokens;
    group.last_state = -1;
    group.tail = false;
    const std::int64_t skipped = std::min(spec.skipped_blocks(hit), size(group.blocks));
    std::fill_n(group.blocks.begin(), skipped, null_block);
    group.skipped = skipped;
    for (const BlockId block : group.blocks)
      if (block != null_block) pool_.touch(block);
  }
  for (std::size_t g = 0; cut(hit) && g < groups(); ++g)
    copy_block(table.groups[g], g, hit / block_tokens());
  for (std::size_t g = 0; g < groups(); ++g) {
    const GroupSpec& spec = options_.groups[g];
    GroupTable::Group& group = table.groups[g];
    if (aligned_states(spec)) {
      if (!group.blocks.empty()) group.last_state = size(group.blocks) - 1;
      const std::int64_t want = spec.blocks(hit + a.tokens) + options_.speculative_tokens;
      const std::int64_t states = 1 + options_.speculative_tokens;
      if (size(group.blocks) < want - states) group.blocks.resize(index(want - states), null_block);
      while (size(group.blocks) < want) group.blocks.push_back(pool_.allocate());
    } else {
      grow(group, spec, hit + a.tokens);
    }
  }
  publish(table, chain, std::min(hit + a.tokens, chain.tokens()));  // drafts have no content yet
  return true;
}

std::int64_t GroupManager::extension_need(const GroupTable::Group& table, const GroupSpec& spec,
                                          std::int64_t tokens) const {
  if (!aligned_states(spec)) {
    return std::max<std::int64_t>(
        0, spec.blocks(slots(tokens)) + speculative_blocks(spec) - size(table.blocks));
  }
  // The speculative blocks move on with the state: one fresh block is enough. A tail takes that
  // one too, beside the copy.
  const bool grows = spec.blocks(tokens) + options_.speculative_tokens > size(table.blocks);
  return (grows || table.tail ? 1 : 0) + (table.tail ? 1 : 0);
}

bool GroupManager::extend(GroupTable& table, std::int64_t settled, std::int64_t computed,
                          std::int64_t n) {
  for (std::size_t g = 0; g < groups(); ++g)
    give_back_skipped(table.groups[g], options_.groups[g], settled);
  std::int64_t need = 0;
  for (std::size_t g = 0; g < groups(); ++g)
    need += extension_need(table.groups[g], options_.groups[g], computed + n);
  if (need > pool_.free()) return false;
  for (std::size_t g = 0; g < groups(); ++g) {
    GroupTable::Group& group = table.groups[g];
    if (!group.tail) continue;
    // The tail is the state that this step makes: it cannot be hit before the step has ended.
    fresh_states_.insert(pool_.tail_hash(group.blocks[index(computed / block_tokens())]));
    copy_block(group, g, computed / block_tokens());
    group.tail = false;
  }
  for (std::size_t g = 0; g < groups(); ++g) {
    const GroupSpec& spec = options_.groups[g];
    if (aligned_states(spec))
      move_state(table.groups[g], spec, computed + n);
    else
      grow(table.groups[g], spec, computed + n);
  }
  return true;
}

void GroupManager::give_back_skipped(GroupTable::Group& table, const GroupSpec& spec,
                                     std::int64_t settled) {
  releasing_.clear();
  const auto give_back = [&](std::int64_t i) {
    releasing_.push_back(table.blocks[index(i)]);
    table.blocks[index(i)] = null_block;
  };
  const std::int64_t skipped = std::min(spec.skipped_blocks(settled), size(table.blocks));
  for (std::int64_t i = skipped - 1; i >= 0 && table.blocks[index(i)] != null_block; --i)
    give_back(i);
  table.skipped = std::max(table.skipped, skipped);
  // A state that was not at the end of what it skips: the step after it has moved on.
  const std::int64_t last = table.last_state;
  if (last >= 0 && last < spec.blocks(settled) - 1 && table.blocks[index(last)] != null_block)
    give_back(last);
  pool_.release(releasing_);
}

// Replaces a block that will be written by a fresh one.
void GroupManager::copy_block(GroupTable::Group& table, std::size_t group, std::int64_t at) {
  BlockId& block = table.blocks[index(at)];
  pinned_[group].push_back(block);
  block = pool_.allocate();
}

void GroupManager::grow(GroupTable::Group& table, const GroupSpec& spec, std::int64_t tokens) {
  const std::int64_t want = spec.blocks(slots(tokens)) + speculative_blocks(spec);
  while (size(table.blocks) < want) table.blocks.push_back(pool_.allocate());
}

// Mode align: the state of `tokens` gets a block of its own, the speculative blocks stay behind it.
void GroupManager::move_state(GroupTable::Group& table, const GroupSpec& spec,
                              std::int64_t tokens) {
  const std::int64_t speculative = options_.speculative_tokens;
  const std::int64_t want = spec.blocks(tokens) + speculative, held = size(table.blocks);
  if (want <= held) return;
  table.last_state = held - 1 - speculative;
  const std::int64_t state = want - 1 - speculative;  // its place
  if (held < state) table.blocks.resize(index(state), null_block);
  for (std::int64_t i = held - speculative; i < std::min(held, state); ++i) {
    const BlockId block = table.blocks[index(i)];
    table.blocks[index(i)] = null_block;
    table.blocks.push_back(block);
  }
  while (size(table.blocks) < want) table.blocks.push_back(pool_.allocate());
}

void GroupManager::publish(GroupTable& table, TokenChain& chain, std::int64_t computed) {
  if (!options_.blocks.prefix_caching) return;
  computed = std::min(computed, chain.tokens());
  table.publish_at = std::numeric_limits<std::int64_t>::max();
  for (std::size_t g = 0; g < groups(); ++g) {
    const GroupSpec& spec = options_.groups[g];
    GroupTable::Group& group = table.groups[g];
    for (; (group.published + 1) * spec.block_tokens <= computed; ++group.published) {
      const BlockId block = group.blocks[index(group.published)];
      if (block == null_block || pool_.hash(block) != 0) continue;
      if (!retention_.keeps(spec, table, group.published)) continue;
      const std::int64_t tokens = (group.published + 1) * spec.block_tokens;
      const BlockHash hash = group_hash(chain.block_hash(tokens / hash_tokens_ - 1), g);
      pool_.publish(block, hash);
      if (spec.kind == GroupKind::mamba) fresh_states_.insert(hash);
    }
    table.publish_at = std::min(table.publish_at, (group.published + 1) * spec.block_tokens);
  }
  publish_tail(table, chain, computed);
}

void GroupManager::publish_tail(GroupTable& table, TokenChain& chain, std::int64_t computed) {
  const std::int64_t point = tail_point(table.prompt_tokens);
  if (point == 0) return;
  if (computed < point) {
    table.publish_at = std::min(table.publish_at, point);
    return;
  }
  const std::int64_t at = point / block_tokens();
  for (std::size_t g = 0; g < groups(); ++g) {
    const GroupKind kind = options_.groups[g].kind;
    GroupTable::Group& group = table.groups[g];
    const bool state = kind == GroupKind::mamba;
    // What full attention has of the tail stays; a state is gone with the next token.
    if (kind != GroupKind::full && !(state && computed == point)) continue;
    const BlockId block = group.blocks[index(at)];
    if (block == null_block || pool_.tail_hash(block) != 0) continue;
    const BlockHash hash = group_hash(chain.block_hash(point / hash_tokens_ - 1), g);
    pool_.publish_tail(block, hash);
    if (!state) continue;
    group.tail = true;
    fresh_states_.insert(hash);
  }
}

void GroupManager::free(GroupTable& table) {
  for (GroupTable::Group& group : table.groups) {
    releasing_.clear();
    for (auto block = group.blocks.rbegin(); block != group.blocks.rend(); ++block)
      if (*block != null_block) releasing_.push_back(*block);
    pool_.release(releasing_);
    group.blocks.clear();
    group.published = group.skipped = 0;
    group.last_state = -1;
    group.tail = false;
  }
}

std::int64_t GroupManager::quiet_until(const GroupTable& table) const {
  std::int64_t until = std::numeric_limits<std::int64_t>::max();
  for (std::size_t g = 0; g < groups(); ++g) {
    const GroupSpec& spec = options_.groups[g];
    const GroupTable::Group& group = table.groups[g];
    if (group.tail) return 0;
    if (group.last_state >= 0 && group.blocks[index(group.last_state)] != null_block) return 0;
    until = std::min(until, (size(group.blocks) - speculative_blocks(spec)) * spec.block_tokens);
    until = std::min(until, spec.skips_next_at(group.skipped).value_or(until));
  }
  return until;
}

std::int64_t GroupManager::held(const GroupTable& table) const {
  std::int64_t count = 0;
  for (const GroupTable::Group& group : table.groups)
    count += size(group.blocks) - std::ranges::count(group.blocks, null_block);
  return count;
}

std::int64_t GroupManager::blocks_at_gate(std::int64_t tokens) const {
  std::int64_t need = 0;
  for (const GroupSpec& spec : options_.groups) {
    if (aligned_states(spec)) {
      need += 1 + options_.speculative_tokens;
      continue;
    }
    const std::int64_t required = spec.blocks(tokens) + speculative_blocks(spec);
    need += std::min(required,
                     spec.admission_cap(options_.in_flight_tokens, options_.blocks.max_model_len)
                         .value_or(required));
  }
  return need;
}

std::int64_t GroupManager::blocks_alone(std::int64_t settled, std::int64_t end,
                                        std::int64_t prompt) const {
  std::int64_t need = 0;
  for (const GroupSpec& spec : options_.groups) {
    if (!aligned_states(spec)) {
      need += spec.blocks(slots(end)) + speculative_blocks(spec) - spec.skipped_blocks(settled);
      continue;
    }
    need += 1 + speculative_blocks(spec);
    if (settled > 0 && settled == tail_point(prompt))
      need += 2;
    else if (settled > 0 && spec.blocks(end) > spec.blocks(settled))
      ++need;
  }
  return need;
}

}  // namespace kvsim::kv
