#include <algorithm>
#include <array>
#include <cmath>

#include "cost/operators/form.h"

// Collectives run one of a few algorithms by size (one-shot, two-shot, ring), each a latency and a
// rate that change by a factor with every doubling of the GPUs n:
//   t_i = floor_i step_i^L + w bytes / (rate_i gain_i^L), L = log2(n / 2),
//   t = pnorm(launch, (sum t_i^-10)^(-1/10); 8)
// where w is what a rank moves per byte of its message and `launch` what the host takes to start an
// eager call, during which the GPU still works on the one before. With n over the GPUs of a node
// the two last regimes stand for the network instead, with L of the GPUs that share a node's link.
namespace kvsim::cost {
namespace {

constexpr double bytes_per_us = 1e3;  // of one GB/s
constexpr double sharpness = 10, hiding = 8;
constexpr std::size_t per_regime = 4;

double moved(const Collective& s) {
  const double n = s.num_gpus;
  switch (s.op) {
    case Collective::Op::all_reduce:
      return 2 * (n - 1) / n;
    case Collective::Op::all_gather:
    case Collective::Op::reduce_scatter:
    case Collective::Op::all_to_all:
      return (n - 1) / n;
    case Collective::Op::send_recv:
      return 1;
  }
  return 1;
}

// The fastest of the regimes whose parameters p holds, four each.
double fastest(std::span<const double> p, double sent, double doublings) {
  double least = HUGE_VAL;
  std::array<double, 4> times{};
  std::size_t n = 0;
  for (std::size_t i = 0; i + per_regime <= p.size(); i += per_regime) {
    const double t = p[i] * std::pow(p[i + 1], doublings) +
                     sent / (bytes_per_us * p[i + 2] * std::pow(p[i + 3], doublings));
    times[n++] = t, least = std::min(least, t);
  }
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += std::pow(least / times[i], sharpness);
  return least * std::pow(sum, -1 / sharpness);
}

// Of 2, 4 and 8 GPUs, straight between the doublings: processes that wait for one another.
double launch_us(std::span<const double> p, double num_gpus) {
  const double doublings = std::clamp(std::log2(num_gpus / 2), 0.0, 2.0);
  return doublings < 1 ? p[0] + doublings * (p[1] - p[0]) : p[1] + (doublings - 1) * (p[2] - p[1]);
}

constexpr std::size_t network_parameters = 2 * per_regime;

template <bool eager, bool network>
double microseconds(const Shape& shape, const Device&, std::span<const double> p, Buffers) {
  const auto& s = std::get<Collective>(shape);
  const double sent = moved(s) * s.bytes;
  double launch = 0;
  if constexpr (eager) launch = launch_us(p, s.num_gpus), p = p.subspan(3);
  if constexpr (network) {
    const std::size_t local = p.size() - network_parameters;
    if (s.num_gpus > s.gpus_per_node)
      return pnorm(launch, fastest(p.subspan(local), sent, std::log2(s.gpus_per_node)), hiding);
    p = p.subspan(0, local);
  }
  return pnorm(launch, fastest(p, sent, std::max(0.0, std::log2(s.num_gpus / 2))), hiding);
}

Features features(const Shape& shape) {
  const auto& s = std::get<Collective>(shape);
  return {std::log2(std::max(1.0, s.bytes)), std::log2(s.num_gpus), std::log2(s.gpus_per_node)};
}
constexpr std::array<std::string_view, 3> names{"log2_bytes", "log2_num_gpus",
                                                "log2_gpus_per_node"};

constexpr std::array<Parameter, 23> all{{
    {"launch_2", 20, 1, 500},        {"launch_4", 20, 1, 500},
    {"launch_8", 20, 1, 500},        {"floor_1", 5, 0.5, 200},
    {"step_1", 1.2, 0.7, 6},         {"rate_1", 100, 0.5, 2000, Scaling::link},
    {"gain_1", 0.7, 0.1, 3},         {"floor_2", 15, 1, 500},
    {"step_2", 1.3, 0.7, 6},         {"rate_2", 150, 1, 2000, Scaling::link},
    {"gain_2", 1, 0.1, 3},           {"floor_3", 40, 2, 2000},
    {"step_3", 1.3, 0.7, 6},         {"rate_3", 250, 1, 2000, Scaling::link},
    {"gain_3", 1.1, 0.1, 3},         {"network_floor_1", 40, 2, 2000},
    {"network_step_1", 1.3, 0.7, 6}, {"network_rate_1", 7, 0.2, 1000},
    {"network_gain_1", 1, 0.1, 6},   {"network_floor_2", 200, 2, 5000},
    {"network_step_2", 1.3, 0.7, 6}, {"network_rate_2", 15, 0.2, 1000},
    {"network_gain_2", 1, 0.1, 6},
}};

constexpr std::span<const Parameter> every(all);
constexpr Form form(std::string_view name, std::span<const Parameter> parameters,
                    decltype(Form::microseconds) us) {
  return {"comm",
          name,
          "fastest of a few algorithms, each a floor and a rate per doubling of n",
          nullptr,
          parameters,
          us,
          features,
          names};
}

constexpr std::array<Form, 6> table{
    form("line", every.subspan(3, 4), microseconds<false, false>),
    form("two_regimes", every.subspan(3, 8), microseconds<false, false>),
    form("three_regimes", every.subspan(3, 12), microseconds<false, false>),
    form("eager_two_regimes", every.subspan(0, 11), microseconds<true, false>),
    form("eager_three_regimes", every.subspan(0, 15), microseconds<true, false>),
    form("nodes", every.subspan(3, 20), microseconds<false, true>),
};

}  // namespace

std::span<const Form> collective_forms() { return table; }

}  // namespace kvsim::cost
