#include "kernels/mla/reference.h"

#include <algorithm>
#include <cmath>

#include "kernels/mla/mla.h"

namespace kvsim::kernels {
namespace {

constexpr auto latent = static_cast<std::size_t>(mla_latent);
constexpr auto rope = static_cast<std::size_t>(mla_rope);
constexpr auto head_dim = static_cast<std::size_t>(mla_head);

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// [128][512] times a latent.
std::vector<double> times(const std::vector<double>& matrix, std::span<const double> x) {
  std::vector<double> out(head_dim);
  for (std::size_t d = 0; d < head_dim; ++d)
    out[d] = dot(std::span(matrix).subspan(d * latent, latent), x.first(latent));
  return out;
}

// Softmax in place; nothing to do for no scores.
void soften(std::vector<double>& scores) {
  if (scores.empty()) return;
  const double top = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& s : scores) sum += s = std::exp(s - top);
  for (double& s : scores) s /= sum;
}

void add_scaled(std::vector<double>& to, double weight, std::span<const double> x) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += weight * x[i];
}

}  // namespace

std::vector<double> mla_absorbed(std::span<const double> q, const LatentRows& rows, int tokens,
                                 double scale) {
  std::vector<double> p(static_cast<std::size_t>(std::max(tokens, 0)));
  for (std::size_t j = 0; j < p.size(); ++j) p[j] = scale * dot(q, rows[j]);
  soften(p);
  std::vector<double> out(latent);
  for (std::size_t j = 0; j < p.size(); ++j) add_scaled(out, p[j], rows[j]);
  return out;
}

std::vector<double> mla_reprojected(std::span<const double> q, const HeadMatrices& head,
                                    const LatentRows& rows, int tokens, double scale) {
  std::vector<double> p(static_cast<std::size_t>(std::max(tokens, 0)));
  for (std::size_t j = 0; j < p.size(); ++j) {
    const auto k = times(head.w_uk, rows[j]);
    p[j] = scale * (dot(q.first(head_dim), k) +
                    dot(q.subspan(head_dim, rope), std::span(rows[j]).subspan(latent, rope)));
  }
  soften(p);
  std::vector<double> out(head_dim);
  for (std::size_t j = 0; j < p.size(); ++j) add_scaled(out, p[j], times(head.w_uv, rows[j]));
  return out;
}

std::vector<double> absorb_query(std::span<const double> q, const HeadMatrices& head) {
  std::vector<double> out(latent + rope);
  for (std::size_t d = 0; d < head_dim; ++d)
    for (std::size_t c = 0; c < latent; ++c) out[c] += q[d] * head.w_uk[d * latent + c];
  for (std::size_t i = 0; i < rope; ++i) out[latent + i] = q[head_dim + i];
  return out;
}

std::vector<double> project_output(std::span<const double> o, const HeadMatrices& head) {
  return times(head.w_uv, o);
}

}  // namespace kvsim::kernels
