#include "metrics/second_buckets.h"

#include <algorithm>

namespace kvsim::metrics {

std::int64_t SecondBuckets::max_tokens() const {
  std::int64_t most = 0;
  for (const auto& c : chunks_) {
    if (c) most = std::max(most, *std::max_element(c->tokens.begin(), c->tokens.end()));
  }
  return most;
}

std::int64_t SecondBuckets::max_active() const {
  std::int64_t most = 0, now = 0;
  for (const auto& c : chunks_) {
    if (!c) continue;
    for (const std::int64_t by : c->change) most = std::max(most, now += by);
  }
  return most;
}

}  // namespace kvsim::metrics
