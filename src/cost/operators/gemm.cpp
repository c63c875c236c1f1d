#include <algorithm>
#include <array>
#include <cmath>

#include "cost/operators/form.h"
#include "cost/operators/gemm_tiles.h"
#include "cost/operators/gemm_time.h"

// Forms of products: equations in gemm_time.h, rules of tiles in gemm_tiles.h.
namespace kvsim::cost {
namespace {

using namespace gemm;

constexpr std::array<Tile, 7> usual{{tile(64, 64), tile(64, 128), tile(64, 256), tile(128, 64),
                                     tile(128, 128), tile(128, 256), tile(256, 128)}};
constexpr std::array<Tile, 9> small{{tile(16, 64), tile(32, 64), tile(64, 64), tile(64, 128),
                                     tile(128, 64), tile(128, 128), tile(128, 192), tile(128, 256),
                                     tile(256, 128)}};
constexpr std::array<Tile, 8> wide{{tile(64, 64), tile(64, 128), tile(64, 256), tile(128, 64),
                                    tile(128, 128), tile(128, 256), tile(256, 128),
                                    tile(256, 256)}};

template <const auto& list>
double best_split_us(const Shape& shape, const Device& d, std::span<const double> p,
                     Buffers buffers) {
  const Gemm& s = *std::get_if<Gemm>(&shape);
  Chain chain(s, d, p);
  chain.allow_splits();
  double least = HUGE_VAL;
  for (const Tile& t : list) least = std::min(least, chain.best_split_us(t));
  return product_us(s, d, p, buffers, least);
}
template <const auto& list>
double best_us(const Shape& shape, const Device& d, std::span<const double> p, Buffers buffers) {
  const Gemm& s = *std::get_if<Gemm>(&shape);
  const Chain chain(s, d, p);
  double least = HUGE_VAL;
  for (const Tile& t : list) least = std::min(least, chain.us(t));
  return product_us(s, d, p, buffers, least) + quant_us(s, d, p, buffers);
}
using Rule = Tile (*)(const Gemm&, const Device&);
template <Rule rule>
double rule_us(const Shape& shape, const Device& d, std::span<const double> p, Buffers buffers) {
  const Gemm& s = *std::get_if<Gemm>(&shape);
  const double least = Chain(s, d, p).us(rule(s, d));
  return product_us(s, d, p, buffers, least) + quant_us(s, d, p, buffers);
}
// Not monotone in m: the widest tiles spill registers, DeepGEMM takes them for a single wave, and
// measured times fall as m grows into a second one (by up to 63 % on H100, 55 % on H200). Cold
// calls keep the factor of replayed ones: what spills does not depend on where operands come from.
double deepgemm_hopper_us(const Shape& shape, const Device& d, std::span<const double> p,
                          Buffers buffers) {
  const Gemm& s = *std::get_if<Gemm>(&shape);
  const Tile t = deepgemm_hopper(s, d);
  const double factor = (t.crowded ? p[cr] : t.uneven ? p[un] : 1) * (t.m <= 64 ? p[w1] : 1);
  const double least = Chain(s, d, p).us(t, factor);
  return product_us(s, d, p, buffers, least) + quant_groups_us(s, d, p, buffers);
}
double deepgemm_blackwell_us(const Shape& shape, const Device& d, std::span<const double> p,
                             Buffers buffers) {
  const Gemm& s = *std::get_if<Gemm>(&shape);
  const double least = Chain(s, d, p).us(deepgemm_blackwell(s, d));
  return product_us(s, d, p, buffers, least) + quant_groups_us(s, d, p, buffers);
}

bool plain(const Shape& shape) {
  const Gemm* s = std::get_if<Gemm>(&shape);
  return s && !s->format.quantises_activations;
}
bool quantised(const Shape& shape) {
  const Gemm* s = std::get_if<Gemm>(&shape);
  return s && s->format.quantises_activations;
}
bool fp4(const Shape& shape) {
  return quantised(shape) && std::get_if<Gemm>(&shape)->format.operands == spec::DType::fp4;
}
bool whole_fp8(const Shape& shape) {  // one scale for all of a matrix
  return quantised(shape) && std::get_if<Gemm>(&shape)->format.operands == spec::DType::fp8 &&
         std::get_if<Gemm>(&shape)->format.weight_bytes == 1;
}
bool block_fp8(const Shape& shape) {
  return quantised(shape) && std::get_if<Gemm>(&shape)->format.operands == spec::DType::fp8 &&
         std::get_if<Gemm>(&shape)->format.weight_bytes > 1;
}

// Generations, by what their datasheets say: four-bit rates since Blackwell, stacked memory in
// datacentres.
bool blackwell(const Device& d) { return d.fp4 > d.fp8; }
bool stacked(const Device& d) { return d.bandwidth > 1900; }
bool on_hopper(const Device& d) { return stacked(d) && !blackwell(d); }
bool on_blackwell(const Device& d) { return stacked(d) && blackwell(d); }
bool on_ada(const Device& d) { return !stacked(d) && !blackwell(d); }
bool on_rtx(const Device& d) { return !stacked(d) && blackwell(d); }
bool on_workstation(const Device& d) { return !stacked(d); }

constexpr std::array<std::string_view, 4> names{"log2_m", "log2_n", "log2_k", "log2_tiles"};
Features features(const Shape& shape) {
  const Gemm& s = *std::get_if<Gemm>(&shape);
  return {std::log2(s.m), std::log2(s.n), std::log2(s.k),
          std::log2(tiles(s.m, 128) * tiles(s.n, 128))};
}

using Time = double (*)(const Shape&, const Device&, std::span<const double>, Buffers);
Form plain_form(std::string_view kernel, std::string_view name, std::string_view summary, Time time,
                bool (*runs_on)(const Device&) = nullptr) {
  return {kernel, name, summary, plain, plain_parameters, time, features, names, runs_on};
}
Form quantised_form(std::string_view name, std::string_view summary, Time time,
                    bool (*applies)(const Shape&) = quantised,
                    bool (*runs_on)(const Device&) = nullptr) {
  return {"gemm", name, summary, applies, quantised_parameters, time, features, names, runs_on};
}

}  // namespace

std::span<const Form> gemm_forms() {
  static const std::array<Form, 15> table{{
      plain_form("gemm", "best_tile_split", "the fastest tile, k split up to 16 times",
                 best_split_us<usual>),
      plain_form("gemm", "best_small_tile_split", "the same with tiles of 16 rows and more",
                 best_split_us<small>, stacked),
      quantised_form("best_tile", "the fastest tile of 64 to 256 rows and columns", best_us<usual>),
      quantised_form("best_wide_tile", "the same up to 256 x 256", best_us<wide>),
      quantised_form("tile_128x128", "tiles of 128 x 128", rule_us<fixed_128x128>),
      quantised_form("tile_32x128", "tiles of 32 x 128 (TensorRT-LLM on GPUs without HBM)",
                     rule_us<fixed_32x128>, block_fp8, on_workstation),
      {"gemm", "deepgemm_hopper", "DeepGEMM's choice by expected cycles", block_fp8,
       hopper_parameters, deepgemm_hopper_us, features, names, on_hopper},
      {"gemm", "deepgemm_blackwell", "DeepGEMM's choice by waves", block_fp8, groups_parameters,
       deepgemm_blackwell_us, features, names, on_blackwell},
      quantised_form("cutlass_ada", "vLLM's tiles by m and n on sm89", rule_us<cutlass_ada_fp8>,
                     whole_fp8, on_ada),
      quantised_form("cutlass_hopper", "vLLM's tiles by m on sm90", rule_us<cutlass_hopper_fp8>,
                     whole_fp8, on_hopper),
      quantised_form("cutlass_hopper_swapped", "the same with swapped operands at small m",
                     rule_us<cutlass_hopper_fp8_swapped>, whole_fp8, on_hopper),
      quantised_form("cutlass_blackwell", "vLLM's tiles by m on sm100",
                     rule_us<cutlass_blackwell_fp8>, whole_fp8, on_blackwell),
      quantised_form("cutlass_rtx", "vLLM's tiles by m on sm120", rule_us<cutlass_rtx_fp8>,
                     whole_fp8, on_rtx),
      quantised_form("cutlass_rtx_fp4", "vLLM's fp4 tiles by m on sm120", rule_us<cutlass_rtx_fp4>,
                     fp4, on_rtx),
      plain_form("vidur_layer_ops", "best_tile_split", "the fastest tile, k split up to 16 times",
                 best_split_us<usual>),
  }};
  return table;
}

}  // namespace kvsim::cost
