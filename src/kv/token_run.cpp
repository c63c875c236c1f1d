#include "kv/token_run.h"

#include <algorithm>

#include "diag/check.h"
#include "kv/run_hash.h"

namespace kvsim::kv {

void TokenChain::reset(std::uint64_t salt, std::uint64_t output_content,
                       std::int64_t block_tokens) {
  clear();
  output_content_ = output_content;
  salt_ = salt;
  block_tokens_ = block_tokens;
}

void TokenChain::clear() {
  runs_.clear();
  hashes_.clear();
  tokens_ = 0;
  outputs_ = 0;
  run_ = 0;
  run_used_ = 0;
}

void TokenChain::append(TokenRun run) {
  tokens_ += run.length;
  if (!runs_.empty()) {
    TokenRun& last = runs_.back();
    if (last.content == run.content && last.offset + last.length == run.offset) {
      last.length += run.length;
      return;
    }
  }
  runs_.push_back(run);
}

void TokenChain::hash_next() {
  std::uint64_t state = hashes_.empty() ? finish(salt_ + 0x9e3779b97f4a7c15ULL) : hashes_.back();
  std::int64_t missing = block_tokens_;
  while (missing > 0) {
    KVSIM_CHECK(run_ < runs_.size(), "block {} is hashed before it is full", hashes_.size());
    const TokenRun& run = runs_[run_];
    const std::int64_t take = std::min(missing, run.length - run_used_);
    if (take == 0) {  // this run is used up; a later append may still prolong it
      ++run_;
      run_used_ = 0;
      continue;
    }
    state = fold(state + 0x9e3779b97f4a7c15ULL, run.content);
    state = fold(state, (static_cast<std::uint64_t>(run.offset + run_used_) << 20) ^
                            static_cast<std::uint64_t>(take));
    run_used_ += take;
    missing -= take;
  }
  state = finish(state);
  hashes_.push_back(state == 0 ? 1 : state);
}

}  // namespace kvsim::kv
