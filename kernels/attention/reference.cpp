#include "kernels/attention/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kvsim::kernels {
namespace {

constexpr double nothing = -std::numeric_limits<double>::infinity();

}  // namespace

ReferenceRow reference_attention(const ReferenceInput& input) {
  const auto count = static_cast<std::size_t>(std::max(0, input.tokens - input.first));
  ReferenceRow row{std::vector<double>(static_cast<std::size_t>(input.value_dim)), nothing,
                   std::vector<double>(count, nothing)};
  double largest = nothing;
  for (std::size_t i = 0; i < count; ++i) {
    const int token = input.first + static_cast<int>(i);
    if (input.visible && !input.visible(token)) continue;
    const float* key = input.key(token);
    double dot = 0;
    for (std::size_t d = 0; d < input.query.size(); ++d)
      dot += static_cast<double>(input.query[d]) * static_cast<double>(key[d]);
    row.probability[i] = input.scale * dot;
    largest = std::max(largest, row.probability[i]);
  }
  double sum = 0;
  for (double& p : row.probability) {
    p = p == nothing ? 0 : std::exp(p - largest);
    sum += p;
  }
  if (sum == 0) return row;
  row.lse = largest + std::log(sum);
  for (std::size_t i = 0; i < count; ++i) {
    double& p = row.probability[i];
    p /= sum;
    if (p == 0) continue;
    const float* value = input.value(input.first + static_cast<int>(i));
    for (std::size_t d = 0; d < row.out.size(); ++d)
      row.out[d] += p * static_cast<double>(value[d]);
  }
  return row;
}

ReferenceRow merged(const ReferenceRow& a, const ReferenceRow& b) {
  if (a.lse == nothing) return b;
  if (b.lse == nothing) return a;
  ReferenceRow out = a;
  const double largest = std::max(a.lse, b.lse);
  const double wa = std::exp(a.lse - largest), wb = std::exp(b.lse - largest);
  for (std::size_t d = 0; d < out.out.size(); ++d)
    out.out[d] = (wa * a.out[d] + wb * b.out[d]) / (wa + wb);
  out.lse = largest + std::log(wa + wb);
  out.probability.clear();
  return out;
}

}  // namespace kvsim::kernels
