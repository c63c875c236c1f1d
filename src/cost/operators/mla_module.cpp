#include <algorithm>
#include <array>
#include <cmath>

#include "cost/operators/form.h"
#include "cost/operators/mla_core.h"

// The whole block of latent attention: the core with a floor of its own, and around it the
// projections, norms and the two per-head products of absorbed decode (in prefill the product that
// materialises keys and values).
//   t = core + pnorm(weights / bandwidth, flops / rate) + memory passes' bytes x passes / bandwidth
namespace kvsim::cost {
namespace {

using namespace mla;

constexpr std::array<Parameter, 4> around{{
    {"weights_share", 0.75, 0.05, 1},
    {"projection_rate", 700, 20, 20000, Scaling::matrix_rate},
    {"projection_power", 1.5, 1, 6},
    {"passes", 1.5, 0.02, 30},
}};
template <std::size_t n>
constexpr auto with_projections(const std::array<Parameter, n>& core) {
  std::array<Parameter, n + around.size()> out{};
  for (std::size_t i = 0; i < n; ++i) out[i] = core[i];
  out[0].start = 40;  // the floors of all its kernels
  for (std::size_t i = 0; i < around.size(); ++i) out[n + i] = around[i];
  return out;
}
constexpr auto decode_with_projections = with_projections(decode_parameters);
constexpr auto prefill_with_projections = with_projections(prefill_parameters);

double projections_us(const MlaModule& m, const Device& d, const double* p) {
  const Mla& s = m.core;
  const double heads = s.n_heads, tokens = s.batch * s.q_len;
  const double down = m.query_latent + s.latent + s.rope;
  const double weights =
      m.hidden * down + m.query_latent * heads * (s.nope + s.rope) + m.hidden * heads * s.value;
  const double up = heads * s.latent * (s.nope + s.value);
  // Materialised keys and values are those of all visible tokens.
  const double flops = 2 * (tokens * weights + (s.decode ? tokens : s.batch * s.kv_len) * up);
  const double bytes = weights * m.projections.weight_bytes + 2 * up;
  const double moved = tokens * (4 * m.hidden + 4 * down + 4 * heads * (s.nope + s.rope + s.value));
  return pnorm(1e-3 * bytes / (p[0] * d.bandwidth), 1e-6 * flops / p[1], p[2]) +
         1e-3 * p[3] * moved / d.bandwidth;
}

bool decodes(const Shape& shape) { return std::get<MlaModule>(shape).core.decode; }
bool prefills(const Shape& shape) { return !std::get<MlaModule>(shape).core.decode; }

template <int heads, int keys, int ctas>
double decode(const Shape& shape, const Device& d, std::span<const double> p, Buffers buffers) {
  const MlaModule& m = std::get<MlaModule>(shape);
  return decode_us<heads, keys, ctas>(m.core, d, p.data(), buffers) +
         projections_us(m, d, p.data() + decode_parameters.size());
}
template <int queries>
double prefill(const Shape& shape, const Device& d, std::span<const double> p, Buffers buffers) {
  const MlaModule& m = std::get<MlaModule>(shape);
  return prefill_us<queries>(m.core, d, p.data(), buffers) +
         projections_us(m, d, p.data() + prefill_parameters.size());
}

constexpr std::array<std::string_view, 3> feature_names{"log2_batch", "log2_kv_len", "log2_heads"};
Features features(const Shape& shape) {
  const Mla& s = std::get<MlaModule>(shape).core;
  return {std::log2(std::max(1.0, s.batch)), std::log2(std::max(1.0, s.kv_len)),
          std::log2(std::max(1.0, s.n_heads * (s.decode ? s.q_len : 1)))};
}

template <int heads, int keys, int ctas>
constexpr Form decode_form(std::string_view name) {
  return {"mla_module",
          name,
          "absorbed decode split over the keys, with its projections",
          decodes,
          decode_with_projections,
          decode<heads, keys, ctas>,
          features,
          feature_names};
}
template <int queries>
constexpr Form prefill_form(std::string_view name) {
  return {"mla_module",
          name,
          "causal tiles over the SMs, with their projections",
          prefills,
          prefill_with_projections,
          prefill<queries>,
          features,
          feature_names};
}

constexpr std::array<Form, 6> table{
    decode_form<64, 64, 1>("split_64x64"),     decode_form<64, 128, 1>("split_64x128"),
    decode_form<128, 128, 1>("split_128x128"), decode_form<128, 128, 2>("split_128x128x2"),
    prefill_form<128>("causal_128x64"),        prefill_form<64>("causal_64x64"),
};

}  // namespace

std::span<const Form> mla_module_forms() { return table; }

}  // namespace kvsim::cost
