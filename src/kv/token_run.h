#pragma once
#include <cstdint>
#include <vector>

#include "kv/block_pool.h"

namespace kvsim::kv {

// `length` equal-content tokens; the same shape as a prompt span of workload/.
struct TokenRun {
  std::uint64_t content = 0;
  std::int64_t offset = 0;
  std::int64_t length = 0;
};

// The tokens a request knows, as runs, and the hash chain over its full blocks.
//
// Block i's hash covers block i-1's hash (or the salt, for block 0) and the runs inside the block;
// equal hashes mean equal tokens from the start of the prompt, but for collisions of 64 bits: n
// cached blocks collide anywhere with probability below n^2 / 2^65 (10 million blocks: 3e-6).
// Hashes are made on demand, once each, in O(runs inside the block), never per token.
class TokenChain {
 public:
  // Starts over with a new prompt; capacity is kept. Neighbouring runs that continue each other are
  // joined, so that the way a prompt was cut has no influence.
  // `output_content` names the tokens that the request itself produces.
  void reset(std::uint64_t salt, std::uint64_t output_content, std::int64_t block_tokens);
  void append(TokenRun run);
  // Room for the hashes of so many tokens, so that growing to them allocates nothing.
  void reserve(std::int64_t tokens) {
    hashes_.reserve(static_cast<std::size_t>(tokens / block_tokens_));
    runs_.reserve(runs_.size() + 1);  // of the outputs
  }
  // The request now knows `tokens` in all: what it lacks is appended as output tokens. Lets a
  // decode step count tokens as an integer and catch up here once a block is full.
  void grow_to(std::int64_t tokens) {
    if (tokens <= tokens_) return;
    const std::int64_t fresh = tokens - tokens_;
    append({output_content_, outputs_, fresh});
    outputs_ += fresh;
  }
  std::int64_t tokens() const { return tokens_; }

  // Hash of full block i; the caller has appended at least (i + 1) * block_tokens tokens.
  BlockHash block_hash(std::int64_t i) {
    while (static_cast<std::int64_t>(hashes_.size()) <= i) hash_next();
    return hashes_[static_cast<std::size_t>(i)];
  }

  // Gives the memory of a finished request back to its slot.
  void clear();

 private:
  void hash_next();

  std::vector<TokenRun> runs_;
  std::vector<BlockHash> hashes_;
  std::uint64_t salt_ = 0;
  std::uint64_t output_content_ = 0;
  std::int64_t outputs_ = 0;
  std::int64_t block_tokens_ = 16;
  std::int64_t tokens_ = 0;
  std::size_t run_ = 0;        // where hashing stands
  std::int64_t run_used_ = 0;  // tokens of runs_[run_] already hashed
};

}  // namespace kvsim::kv
