#include "scenario/kv_groups.h"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

void check_kv_groups(const EngineConfig& c, std::vector<std::string>& warnings,
                     const FieldError& error) {
  for (const KvGroupOptions& group : c.vllm.kv_groups) check_group(group, error);
  const bool states = std::ranges::any_of(c.vllm.kv_groups, [](const KvGroupOptions& group) {
    return group.kind == KvGroupKind::mamba;
  });
  if (states) check_states(c, warnings, error);
  check_match_unit(c, states, error);
}

}  // namespace kvsim::scenario
