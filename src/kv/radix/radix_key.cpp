#include "kv/radix/radix_key.h"

#include <algorithm>

#include "diag/check.h"
#include "kv/run_hash.h"

namespace kvsim::kv {

void append_run(std::vector<TokenRun>& runs, TokenRun run) {
  if (run.length == 0) return;
  if (!runs.empty()) {
    TokenRun& last = runs.back();
    if (last.content == run.content && last.offset + last.length == run.offset) {
      last.length += run.length;
      return;
    }
  }
  runs.push_back(run);
}

void RadixKey::append(TokenRun run) {
  tokens_ += run.length;
  append_run(runs_, run);
}

void RunCursor::advance(std::int64_t tokens) {
  while (tokens > 0) {
    KVSIM_CHECK(run < runs.size(), "{} tokens beyond the end of a key", tokens);
    const std::int64_t rest = runs[run].length - skip;
    if (tokens < rest) {
      skip += tokens;
      return;
    }
    tokens -= rest;
    skip = 0;
    ++run;
  }
}

std::int64_t common_tokens(RunCursor a, RunCursor b, std::int64_t limit) {
  std::int64_t common = 0;
  while (common < limit && a.run < a.runs.size() && b.run < b.runs.size()) {
    const TokenRun& x = a.runs[a.run];
    const TokenRun& y = b.runs[b.run];
    if (x.content != y.content || x.offset + a.skip != y.offset + b.skip) break;
    const std::int64_t take = std::min(x.length - a.skip, y.length - b.skip);
    common += take;
    a.advance(take);
    b.advance(take);
  }
  return std::min(common, limit);
}

std::uint64_t hash_tokens(RunCursor at, std::int64_t tokens, std::uint64_t seed) {
  std::uint64_t state = seed;
  while (tokens > 0) {
    KVSIM_CHECK(at.run < at.runs.size(), "{} tokens beyond the end of a key", tokens);
    const TokenRun& run = at.runs[at.run];
    const std::int64_t take = std::min(tokens, run.length - at.skip);
    state = fold(state + 0x9e3779b97f4a7c15ULL, run.content);
    state = fold(state, (static_cast<std::uint64_t>(run.offset + at.skip) << 20) ^
                            static_cast<std::uint64_t>(take));
    tokens -= take;
    at.advance(take);
  }
  return finish(state);
}

void copy_tokens(RunCursor at, std::int64_t tokens, std::vector<TokenRun>& out) {
  out.clear();
  while (tokens > 0) {
    KVSIM_CHECK(at.run < at.runs.size(), "{} tokens beyond the end of a key", tokens);
    const TokenRun& run = at.runs[at.run];
    const std::int64_t take = std::min(tokens, run.length - at.skip);
    out.push_back({run.content, run.offset + at.skip, take});
    tokens -= take;
    at.advance(take);
  }
}

}  // namespace kvsim::kv
