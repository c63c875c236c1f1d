#pragma once
#include <functional>
#include <span>
#include <vector>

// Attention of one query row in double, the plainest way: all scores, their maximum, exponentials,
// sums. What every attention kernel here is compared with.
namespace kvsim::kernels {

// Key or value of a token, as the kernel sees it (after rounding to its storage format).
using RowOfToken = std::function<const float*(int token)>;

struct ReferenceInput {
  std::span<const float> query;
  int first = 0, tokens = 0;  // sees tokens first ... tokens - 1
  int value_dim = 0;
  double scale = 1;  // score = scale * (query . key)
  RowOfToken key, value;
  std::function<bool(int token)> visible;  // empty: all
};

// Without a visible token: zeros and lse -inf.
struct ReferenceRow {
  std::vector<double> out;
  double lse = 0;                   // natural log of the sum of exp(score)
  std::vector<double> probability;  // [token - first], 0 where not visible
};
ReferenceRow reference_attention(const ReferenceInput& input);

// Two states of disjoint sets of tokens as one; either may be empty (lse -inf).
ReferenceRow merged(const ReferenceRow& a, const ReferenceRow& b);

}  // namespace kvsim::kernels
