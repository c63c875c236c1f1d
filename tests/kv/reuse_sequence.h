#pragma once
#include <vector>

#include "kv/reuse/reuse_pool.h"

namespace kvsim::testing {

// The tokens of a request for a ReusePool of four-token blocks; output tokens are content 1000.
class Sequence {
 public:
  static constexpr std::int64_t block_tokens = 4;
  explicit Sequence(const std::vector<kv::TokenRun>& runs, std::uint64_t salt = 0,
                    std::uint64_t output = 1000)
      : tokens_(salt), output_(output) {
    chain_.reset(salt, output, block_tokens);
    for (const kv::TokenRun& run : runs) {
      chain_.append(run);
      tokens_.append(run);
    }
    prompt_ = tokens_.tokens();
  }
  std::int64_t tokens() const { return tokens_.tokens(); }
  std::int64_t prompt() const { return prompt_; }
  void grow() {
    tokens_.append({output_, tokens() - prompt_, 1});
    chain_.grow_to(tokens());
  }
  kv::ReuseKey key() { return {tokens_.view(), &chain_}; }

 private:
  kv::RadixKey tokens_;
  kv::TokenChain chain_;
  std::uint64_t output_;
  std::int64_t prompt_ = 0;
};

}  // namespace kvsim::testing
