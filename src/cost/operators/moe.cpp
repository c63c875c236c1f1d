#include <algorithm>
#include <array>
#include <cmath>

#include "cost/operators/form.h"
#include "cost/operators/routing.h"

// The routed experts of a layer on its busiest rank: two grouped products over the tiles of the
// touched experts, against the streaming of their weights, with what sorts, activates and gathers
// the tokens around them. Routing says picks, touched experts and tiles.
//   N x K   = (2 or 1 of) width x hidden, then hidden x width;  width = inter / moe_tp
//   step    = 2 rows 128 (128/a) / (rate/SM) + (rows + 128 w/a) 128 / shared   128 bytes along K
//   product = wv (ceil(K a/128) step + launch),  x = tiles ceil(N/128) / SM,
//   wv      = max(1, (1 - whole_waves) x + whole_waves ceil(x))
//   mem     = memory_floor + touched (2 or 3) hidden width w missed / bandwidth
//   t       = floor + experts El/100 + picks tokens topk/10^4 + moved / activations
//             + 2 tokens hidden / output + pnorm(least over rows of both products, mem)
// with w and a the bytes per weight and per activation.
namespace kvsim::cost {
namespace {

enum : std::size_t {
  floor_,
  experts_,
  picks_,
  rate_,
  shared_,
  launch_,
  whole_,
  power_,
  bandwidth_,
  memory_floor_,
  activations_,
  output_,
  l2_share_,
  l2_sharpness_,
  heat_,
  count_
};
constexpr std::array<Parameter, count_> parameters{{
    {"floor", 16, 1, 300},
    {"experts", 1.3, 0.001, 100},
    {"picks", 1, 0.001, 200},
    {"rate", 1200, 20, 20000, Scaling::matrix_rate},
    {"shared", 400, 10, 5000},
    {"launch", 1, 0.001, 30},
    {"whole_waves", 0.7, 0.01, 1},
    {"power", 1.6, 1, 10},
    {"bandwidth_share", 0.85, 0.03, 1},
    {"memory_floor", 6, 0.01, 60},
    {"activations", 1500, 20, 20000, Scaling::bandwidth},
    {"output", 2500, 20, 20000, Scaling::bandwidth},
    {"l2_share", 0.4, 0.02, 2},
    {"l2_sharpness", 5, 1, 12},
    {"heat", 1, 0.1, 4},
}};

// Tiles of 2^first to 2^last rows.
template <int first, int last>
double grouped(const Shape& shape, const Device& d, std::span<const double> p, Buffers buffers) {
  const ExpertMlp& s = std::get<ExpertMlp>(shape);
  const Routing routing(s, p[heat_]);
  const double width = s.inter / s.moe_tp, up = (s.gated ? 2 : 1) * width;
  const double weight = s.format.weight_bytes, input = s.format.activation_bytes;

  const double mb = 1e-6 * routing.touched() * (up + width) * s.hidden * weight;
  const double memory =
      p[memory_floor_] + 1e3 * mb * missed(mb, d.l2_mb, p[l2_share_], p[l2_sharpness_], buffers) /
                             (p[bandwidth_] * d.bandwidth);
  constexpr double columns = 128, line = 128;  // bytes of a step along k
  const double per_sm = 1e6 * p[rate_] / d.sms;
  const double up_share = std::ceil(up / columns) / d.sms,
               down_share = std::ceil(s.hidden / columns) / d.sms;
  const double up_steps = std::ceil(s.hidden * input / line),
               down_steps = std::ceil(width * input / line);
  double least = HUGE_VAL;
  for (int doublings = first; doublings <= last; ++doublings) {
    const double rows = 1 << doublings, tiles = routing.tiles(doublings);
    const double step = 2 * rows * columns * (line / input) / per_sm +
                        (rows + columns * weight / input) * line / (1e3 * p[shared_]);
    const auto product = [&](double share, double steps) {
      const double rounds = std::max(1.0, (1 - p[whole_]) * share + p[whole_] * std::ceil(share));
      return rounds * (steps * step + p[launch_]);
    };
    least = std::min(least,
                     product(tiles * up_share, up_steps) + product(tiles * down_share, down_steps));
  }
  const double picks = routing.picks();
  const double moved = picks * s.hidden * (input + 2) + picks * (2 * up + width * input);
  return p[floor_] + p[experts_] * (s.n_experts / s.moe_ep) / 100 +
         p[picks_] * s.tokens * s.topk / 1e4 + moved / (1e3 * p[activations_]) +
         2 * s.tokens * s.hidden / (1e3 * p[output_]) + pnorm(least, memory, p[power_]);
}

constexpr std::array<std::string_view, 4> feature_names{"log2_picks_per_expert", "log2_experts",
                                                        "log2_expert_size", "log2_tokens"};
Features features(const Shape& shape) {
  const ExpertMlp& s = std::get<ExpertMlp>(shape);
  return {std::log2(s.tokens * s.topk / s.n_experts), std::log2(s.n_experts / s.moe_ep),
          std::log2(s.hidden * s.inter / s.moe_tp), std::log2(std::max(1.0, s.tokens))};
}

template <int first, int last>
constexpr Form form(std::string_view name) {
  return {
      "moe",    name,         "grouped tiles over the SMs, against the touched experts' weights",
      nullptr,  parameters,   grouped<first, last>,
      features, feature_names};
}
constexpr std::array<Form, 5> table{
    form<4, 7>("grouped_16_128"), form<6, 7>("grouped_64_128"), form<7, 7>("grouped_128"),
    form<3, 7>("grouped_8_128"),  form<4, 8>("grouped_16_256"),
};

}  // namespace

std::span<const Form> moe_forms() { return table; }

}  // namespace kvsim::cost
