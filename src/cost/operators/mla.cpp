#include <algorithm>
#include <array>
#include <cmath>

#include "cost/operators/form.h"
#include "cost/operators/mla_core.h"

namespace kvsim::cost {
namespace {

using namespace mla;

bool decodes(const Shape& shape) { return std::get<Mla>(shape).decode; }
bool prefills(const Shape& shape) { return !std::get<Mla>(shape).decode; }

template <int heads, int keys, int ctas>
double decode(const Shape& shape, const Device& d, std::span<const double> p, Buffers buffers) {
  return decode_us<heads, keys, ctas>(std::get<Mla>(shape), d, p.data(), buffers);
}
template <int queries>
double prefill(const Shape& shape, const Device& d, std::span<const double> p, Buffers buffers) {
  return prefill_us<queries>(std::get<Mla>(shape), d, p.data(), buffers);
}

constexpr std::array<std::string_view, 3> feature_names{"log2_batch", "log2_kv_len", "log2_heads"};
Features features(const Shape& shape) {
  const Mla& s = std::get<Mla>(shape);
  return {std::log2(std::max(1.0, s.batch)), std::log2(std::max(1.0, s.kv_len)),
          std::log2(std::max(1.0, s.n_heads * (s.decode ? s.q_len : 1)))};
}

template <int heads, int keys, int ctas>
constexpr Form decode_form(std::string_view name) {
  return {"mla",
          name,
          "absorbed decode split over the keys, against bytes and flops",
          decodes,
          decode_parameters,
          decode<heads, keys, ctas>,
          features,
          feature_names};
}
template <int queries>
constexpr Form prefill_form(std::string_view name) {
  return {"mla",
          name,
          "causal tiles over the SMs, and their rotated and cached inputs",
          prefills,
          prefill_parameters,
          prefill<queries>,
          features,
          feature_names};
}

constexpr std::array<Form, 8> table{
    decode_form<64, 64, 1>("split_64x64"),     decode_form<64, 128, 1>("split_64x128"),
    decode_form<64, 64, 2>("split_64x64x2"),   decode_form<128, 64, 1>("split_128x64"),
    decode_form<128, 128, 1>("split_128x128"), decode_form<128, 128, 2>("split_128x128x2"),
    prefill_form<128>("causal_128x64"),        prefill_form<64>("causal_64x64"),
};

}  // namespace

std::span<const Form> mla_forms() { return table; }

}  // namespace kvsim::cost
