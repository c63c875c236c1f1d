#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "config/fields.h"

// What only vLLM has among the fields of an engine, under vLLM's own names (main of 2026-08-17).
namespace kvsim::engine {

// One KV cache group: layers that keep KV alike and share one block table per request. All groups
// draw their blocks from one pool.
enum class KvGroupKind { full, sliding_window, chunked_local, mamba };
inline constexpr std::array<std::string_view, 4> kv_group_kind_names{"full", "sliding_window",
                                                                     "chunked_local", "mamba"};
struct KvGroupOptions {
  KvGroupKind kind = KvGroupKind::full;
  std::int64_t window = 0;                // sliding_window: tokens seen, the current one included
  std::int64_t attention_chunk_size = 0;  // chunked_local
};

enum class MambaCacheMode { none, align, all };
inline constexpr std::array<std::string_view, 3> mamba_cache_mode_names{"none", "align", "all"};

enum class SpeculativeMethod { ngram, draft_model, eagle, eagle3, mtp };
inline constexpr std::array<std::string_view, 5> speculative_method_names{"ngram", "draft_model",
                                                                          "eagle", "eagle3", "mtp"};

// Drafted tokens, proposed after every step that emits a token and verified in the next one.
struct SpeculativeOptions {
  SpeculativeMethod method = SpeculativeMethod::ngram;
  std::int64_t num_speculative_tokens = 1;  // K
  config::RawValue model;                   // of a draft_model
  bool parallel_drafting = false;           // all K drafts in one pass of the drafter
  // The v-th verification of a request accepts accept_pattern[v mod length] drafts, at most those
  // scheduled, and emits one token more.
  std::vector<std::int64_t> accept_pattern;

  // Slots that a running request gets ahead of its tokens.
  std::int64_t lookahead_tokens() const {
    return method == SpeculativeMethod::ngram ? 0 : num_speculative_tokens;
  }
  // The drafter runs on the target's hidden states: the last matched block is computed again.
  bool drops_last_block() const {
    return method == SpeculativeMethod::eagle || method == SpeculativeMethod::eagle3 ||
           method == SpeculativeMethod::mtp;
  }
  // Input slots of a step that the drafter takes per request beyond the scheduled tokens.
  std::int64_t extra_input_slots() const {
    if (method == SpeculativeMethod::draft_model)
      return parallel_drafting ? num_speculative_tokens : 1;
    return method == SpeculativeMethod::eagle3 && parallel_drafting ? num_speculative_tokens - 1
                                                                    : 0;
  }
};

// Who starts the engine; decides the default size of a step.
enum class UsageContext { api_server, llm_class };
inline constexpr std::array<std::string_view, 2> usage_context_names{"api_server", "llm_class"};

struct VllmOptions {
  UsageContext usage_context = UsageContext::api_server;
  std::optional<std::int64_t> max_loras;  // different adapters in a step; none: any number
  int data_parallel_size = 1;  // engines of one replica, each with its own scheduler and KV
  // Replaces the groups of the model; empty: those of the model.
  std::vector<KvGroupOptions> kv_groups;
  // Which window blocks and states get a hash: none = all; 0 = those at the end of a prompt and at
  // detected shared prefixes; n = also one tail per n tokens.
  std::optional<std::int64_t> prefix_cache_retention_interval = 0;
  std::optional<MambaCacheMode> mamba_cache_mode;
  std::optional<std::int64_t> mamba_block_size;
  std::optional<std::int64_t> prefix_match_unit;  // tokens per hash; none: block_size
  std::optional<SpeculativeOptions> speculative;
};

void fields(config::FieldVisitor& v, KvGroupOptions& o);
void fields(config::FieldVisitor& v, SpeculativeOptions& o);
void fields(config::FieldVisitor& v, VllmOptions& o);

}  // namespace kvsim::engine
