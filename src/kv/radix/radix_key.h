#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kv/token_run.h"

// What a prefix tree is asked for: an extra key (LoRA, cache salt; 0 = none) and tokens as runs.
//
// Runs are canonical when neighbours that continue each other are one run; then two token sequences
// are equal exactly when their runs are, and every cut of a canonical list is canonical. After
// SGLang's RadixKey (mem_cache/radix_cache.py, 2026-07).
namespace kvsim::kv {

// A borrowed key: the first `tokens` tokens of canonical `runs`.
struct KeyView {
  std::uint64_t extra_key = 0;
  std::span<const TokenRun> runs{};
  std::int64_t tokens = 0;

  // The same key without what lies behind `n` tokens. O(1).
  KeyView first(std::int64_t n) const { return {extra_key, runs, n < tokens ? n : tokens}; }
};

// An owned key; append() keeps it canonical, capacity survives clear().
class RadixKey {
 public:
  explicit RadixKey(std::uint64_t extra_key = 0) : extra_key_(extra_key) {}
  void clear(std::uint64_t extra_key) {
    extra_key_ = extra_key;
    tokens_ = 0;
    runs_.clear();
  }
  void append(TokenRun run);
  std::int64_t tokens() const { return tokens_; }
  KeyView view() const { return {extra_key_, runs_, tokens_}; }

 private:
  std::uint64_t extra_key_;
  std::int64_t tokens_ = 0;
  std::vector<TokenRun> runs_;
};

// Adds `run` to a canonical list and keeps it canonical.
void append_run(std::vector<TokenRun>& runs, TokenRun run);

// A position inside a list of runs.
struct RunCursor {
  std::span<const TokenRun> runs{};
  std::size_t run = 0;
  std::int64_t skip = 0;  // tokens of runs[run] already passed

  // O(runs passed).
  void advance(std::int64_t tokens);
};

// Leading tokens that two positions have in common, at most `limit`. O(runs compared).
std::int64_t common_tokens(RunCursor a, RunCursor b, std::int64_t limit);
// Hash of the next `tokens` tokens, mixed into `seed`. O(runs inside).
std::uint64_t hash_tokens(RunCursor at, std::int64_t tokens, std::uint64_t seed);
// Writes the next `tokens` tokens to `out`, which is emptied first. O(runs inside).
void copy_tokens(RunCursor at, std::int64_t tokens, std::vector<TokenRun>& out);

}  // namespace kvsim::kv
