#include <algorithm>
#include <array>
#include <cmath>

#include "cost/operators/form.h"

// One product per head around absorbed decode: tiles of all heads over the SMs against the bytes,
// with what quantises its input where the format asks for that (a kernel that walks the tokens).
//   step = 2 rows 128 (128/a) / (rate/SM) + (rows + 128 w/a) 128 / shared      128 bytes along k
//   t    = floor + pnorm(least over rows of wv (ceil(k a/128) step + launch), bytes / bandwidth)
//          + quantise + quantise_tokens tokens/1000 + tokens heads k (2 + a) / quantise rate
// with wv = max(1, (1 - whole_waves) x + whole_waves ceil(x)), x = tiles / SM, and w and a the
// bytes per weight and per activation.
namespace kvsim::cost {
namespace {

constexpr std::array<Parameter, 13> parameters{{
    {"floor", 5, 0.3, 60},
    {"rate", 800, 10, 20000, Scaling::matrix_rate},
    {"shared", 400, 10, 10000},
    {"launch", 0.5, 0.001, 30},
    {"whole_waves", 0.5, 0.01, 1},
    {"power", 2, 1, 8},
    {"bandwidth_share", 0.8, 0.05, 1},
    {"l2_share", 0.5, 0.02, 4},
    {"l2_sharpness", 4, 1, 12},
    {"warm", 2.5, 1, 20},
    {"quantise", 0.5, 0.01, 30},
    {"quantise_share", 0.5, 0.01, 20},
    {"quantise_tokens", 0.1, 0.001, 100},
}};

template <int first, int last, int columns>
double per_head(const Shape& shape, const Device& d, std::span<const double> p, Buffers buffers) {
  const MlaBmm& s = std::get<MlaBmm>(shape);
  const double n = s.pre ? s.latent : s.head, k = s.pre ? s.head : s.latent;
  const double input = s.format.activation_bytes, weight = s.format.weight_bytes;
  const double mb = 1e-6 * s.n_heads * (n * k * weight + s.tokens * (k * input + 2 * n));
  const double cold = missed(mb, d.l2_mb, p[7], p[8], buffers);
  const double memory = 1e3 * mb * (cold + (1 - cold) / p[9]) / (p[6] * d.bandwidth);
  const double per_sm = 1e6 * p[1] / d.sms, line = 128;
  double least = HUGE_VAL;
  for (double rows = first; rows <= last; rows *= 2) {
    const double step = 2 * rows * columns * (line / input) / per_sm +
                        (rows + columns * weight / input) * line / (1e3 * p[2]);
    const double share = s.n_heads * std::ceil(s.tokens / rows) * std::ceil(n / columns) / d.sms;
    const double rounds = std::max(1.0, (1 - p[4]) * share + p[4] * std::ceil(share));
    least = std::min(least, rounds * (std::ceil(k * input / line) * step + p[3]));
  }
  double t = p[0] + pnorm(least, memory, p[5]);
  if (s.format.quantises_activations)
    t += p[10] + p[12] * s.tokens / 1e3 +
         1e-3 * s.tokens * s.n_heads * k * (2 + input) / (p[11] * d.bandwidth);
  return t;
}

constexpr std::array<std::string_view, 2> feature_names{"log2_tokens", "log2_heads"};
Features features(const Shape& shape) {
  const MlaBmm& s = std::get<MlaBmm>(shape);
  return {std::log2(std::max(1.0, s.tokens)), std::log2(std::max(1.0, s.n_heads))};
}

template <int first, int last, int columns>
constexpr Form form(std::string_view name) {
  return {"mla_bmm", name,         "tiles of all heads over the SMs, against their bytes",
          nullptr,   parameters,   per_head<first, last, columns>,
          features,  feature_names};
}
constexpr std::array<Form, 3> table{form<16, 128, 128>("heads_16_128"),
                                    form<64, 128, 128>("heads_64_128"),
                                    form<128, 128, 128>("heads_128")};

}  // namespace

std::span<const Form> mla_bmm_forms() { return table; }

}  // namespace kvsim::cost
