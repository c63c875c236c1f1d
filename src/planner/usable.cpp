#include "planner/usable.h"

#include <fmt/format.h>

#include <algorithm>

#include "units/format.h"

namespace kvsim::planner {
namespace {

using spec::AttentionKind;

struct Kinds {
  std::int64_t full = 0, windows = 0, states = 0;
};

Kinds count(const memory::KvLayout& layout) {
  Kinds n;
  for (const memory::KvGroup& g : layout.groups) {
    if (g.attention == AttentionKind::recurrent)
      ++n.states;
    else if (g.attention == AttentionKind::sliding_window ||
             g.attention == AttentionKind::chunked_local)
      ++n.windows;
    else
      ++n.full;
  }
  return n;
}

// Every group keeps its block of every token.
Usable cached(const memory::Pool& pool, const Kinds& kinds) {
  std::int64_t per_token_block = 0;
  std::int64_t block = pool.layout.block_tokens;
  for (const memory::KvGroup& g : pool.layout.groups) block = std::max(block, g.block_tokens);
  for (const memory::KvGroup& g : pool.layout.groups)
    per_token_block += std::max<std::int64_t>(block / g.block_tokens, 1);
  Usable u;
  u.tokens = (pool.num_gpu_blocks - 1) / per_token_block * block;
  std::string of = fmt::format("{} of attention", kinds.full);
  if (kinds.windows > 0) of += fmt::format(", {} of windows", kinds.windows);
  if (kinds.states > 0) of += fmt::format(", {} of states", kinds.states);
  u.note = fmt::format(
      "({} blocks - null block) / {} kept per {} tokens ({}) when all of a prefix stays cached",
      format_integer(pool.num_gpu_blocks), per_token_block, format_integer(block), of);
  return u;
}

// Requests of max_model_len side by side.
Usable running(const memory::Pool& pool) {
  const std::int64_t length = pool.options.max_model_len;
  const std::int64_t need = pool.layout.blocks_for(length);
  Usable u;
  if (need > 0)
    u.tokens =
        static_cast<std::int64_t>(static_cast<__int128>(pool.num_gpu_blocks - 1) * length / need);
  u.note = fmt::format("({} blocks - null block) * {} tokens / {} blocks of such a request",
                       format_integer(pool.num_gpu_blocks), format_integer(length),
                       format_integer(need));
  return u;
}

}  // namespace

Usable usable_tokens(const memory::Pool& pool) {
  if (pool.options.rules.engine != memory::Engine::vllm_v1 || !pool.layout.one_pool ||
      pool.layout.groups.empty())
    return {pool.tokens, "as printed"};
  if (!pool.options.rules.v1) return {pool.tokens, "as printed: no block is reserved before V1"};
  if (pool.num_gpu_blocks < 1) return {0, "no blocks"};
  const Kinds kinds = count(pool.layout);
  if (kinds.windows + kinds.states == 0) {
    Usable u = cached(pool, kinds);
    u.tokens = std::min(u.tokens, pool.tokens);
    u.note =
        fmt::format("({} blocks - null block) * {} tokens", format_integer(pool.num_gpu_blocks),
                    format_integer(pool.layout.groups.front().block_tokens));
    return u;
  }
  return pool.options.enable_prefix_caching.value_or(false) ? cached(pool, kinds) : running(pool);
}

}  // namespace kvsim::planner
