#include "scenario/kv_groups.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/profiles/vllm_v1/grouped_kv.h"

namespace kvsim::scenario {
namespace {

using engine::EngineConfig;
using engine::KvGroupKind;
using engine::KvGroupOptions;
using engine::MambaCacheMode;

std::string_view name(KvGroupKind kind) {
  return engine::kv_group_kind_names[static_cast<std::size_t>(kind)];
}

void check_group(const KvGroupOptions& group, const FieldError& error) {
  const auto needs = [&](const char* field, std::int64_t value, KvGroupKind kind) {
    if (group.kind == kind && value == 0)
      error("kv_groups", "kv-groups",
            fmt::format("a group of kind {} needs \"{}\"", name(kind), field), "");
    if (group.kind != kind && value != 0)
      error("kv_groups", "field-without-use",
            fmt::format("\"{}\" has no meaning for a group of kind {}", field, name(group.kind)),
            "");
  };
  needs("window", group.window, KvGroupKind::sliding_window);
  needs("attention_chunk_size", group.attention_chunk_size, KvGroupKind::chunked_local);
}

void check_states(const EngineConfig& c, std::vector<std::string>& warnings,
                  const FieldError& error) {
  const MambaCacheMode unset =
      c.enable_prefix_caching ? MambaCacheMode::align : MambaCacheMode::none;
  const MambaCacheMode mode = c.vllm.mamba_cache_mode.value_or(unset);
  if (mode != MambaCacheMode::none && !c.enable_prefix_caching) {
    warnings.push_back(
        "mamba_cache_mode is none without prefix caching, as vLLM sets it: no state is kept");
    return;
  }
  if (mode == MambaCacheMode::align && !c.enable_chunked_prefill)
    error("enable_chunked_prefill", "kv-groups",
          "states at block boundaries (mamba_cache_mode align) need chunked prefill",
          "set mamba_cache_mode to none, or enable_prefix_caching to false");
  if (mode == MambaCacheMode::align &&
      c.vllm.mamba_block_size.value_or(*c.block_size) != *c.block_size)
    error("mamba_block_size", "kv-groups",
          fmt::format("mamba_cache_mode align keeps a state per block: mamba_block_size must be "
                      "block_size, {}",
                      *c.block_size),
          "leave it out");
}

void check_match_unit(const EngineConfig& c, bool states, const FieldError& error) {
  if (!c.vllm.prefix_match_unit || *c.vllm.prefix_match_unit == *c.block_size) return;
  const std::int64_t unit = *c.vllm.prefix_match_unit;
  if (unit > *c.block_size || *c.block_size % unit != 0)
    error(
        "prefix_match_unit", "kv-groups",
        fmt::format("prefix_match_unit {} does not divide the block size {}", unit, *c.block_size),
        "");
  else if (!states ||
           c.vllm.mamba_cache_mode.value_or(MambaCacheMode::align) != MambaCacheMode::align)
    error("prefix_match_unit", "field-without-use",
          "a prefix ends inside a block only beside recurrent states in mamba_cache_mode align",
          "leave it out");
}

kv::GroupKind kind(spec::AttentionKind attention) {
  switch (attention) {
    case spec::AttentionKind::none:
    case spec::AttentionKind::full:
    case spec::AttentionKind::mla:
      return kv::GroupKind::full;
    case spec::AttentionKind::sliding_window:
      return kv::GroupKind::sliding_window;
    case spec::AttentionKind::chunked_local:
      return kv::GroupKind::chunked_local;
    case spec::AttentionKind::recurrent:
      return kv::GroupKind::mamba;
  }
  return kv::GroupKind::full;
}

}  // namespace

std::vector<kv::GroupSpec> model_groups(const ResolvedPool& pool) {
  const memory::KvLayout& layout = pool.size.layout;
  std::vector<kv::GroupSpec> groups;
  if (pool.size.options.rules.engine != memory::Engine::vllm_v1 || !layout.one_pool ||
      !pool.config.vllm.kv_groups.empty())
    return groups;
  for (const memory::KvGroup& group : layout.groups) {
    kv::GroupSpec spec;
    spec.kind = kind(group.attention);
    spec.block_tokens = group.block_tokens;
    if (spec.kind == kv::GroupKind::sliding_window) spec.window = group.window;
    if (spec.kind == kv::GroupKind::chunked_local) spec.attention_chunk_size = group.window;
    groups.push_back(spec);
  }
  if (groups.size() == 1 && groups.front().kind == kv::GroupKind::full) groups.clear();
  return groups;
}

std::int64_t blocks_for_request(const ResolvedPool& pool, std::int64_t tokens) {
  const EngineConfig& c = pool.config;
  const std::int64_t block = *c.block_size;
  if (c.vllm.kv_groups.empty()) {
    const memory::KvLayout& layout = pool.size.layout;
    return layout.one_pool && !model_groups(pool).empty() ? layout.blocks_for(tokens)
                                                          : kv::ceil_blocks(tokens, block);
  }
  const kv::GroupManager::Options o = engine::group_options(limits(pool));
  std::int64_t need = 0;
  for (const kv::GroupSpec& spec : o.groups) {
    if (spec.kind != kv::GroupKind::mamba) {
      need += spec.admission_cap(o.in_flight_tokens, tokens).value_or(spec.blocks(tokens));
      continue;
    }
    const std::int64_t states = o.state_mode == kv::StateMode::all     ? spec.blocks(tokens)
                                : o.state_mode == kv::StateMode::align ? 2
                                                                       : 1;
    need += states + o.speculative_tokens;
  }
  return need;
}

void check_kv_groups(const ResolvedPool& pool, std::vector<std::string>& warnings,
                     const FieldError& error) {
  const EngineConfig& c = pool.config;
  for (const KvGroupOptions& group : c.vllm.kv_groups) check_group(group, error);
  if (!c.vllm.kv_groups.empty() && !c.num_gpu_blocks_override)
    warnings.push_back(
        "kv_groups are not the model's: no rule sizes their pool, which keeps the model's blocks; "
        "give num_gpu_blocks_override");
  const bool states = std::ranges::any_of(c.vllm.kv_groups,
                                          [](const KvGroupOptions& group) {
                                            return group.kind == KvGroupKind::mamba;
                                          }) ||
                      std::ranges::any_of(model_groups(pool), [](const kv::GroupSpec& spec) {
                        return spec.kind == kv::GroupKind::mamba;
                      });
  if (states) check_states(c, warnings, error);
  check_match_unit(c, states, error);
}

}  // namespace kvsim::scenario
