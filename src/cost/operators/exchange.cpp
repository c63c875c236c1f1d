#include <algorithm>
#include <array>
#include <cmath>

#include "cost/operators/form.h"

// DeepEP's dispatch and combine between the ranks of an expert-parallel group, eight to a node.
// Normal: a token goes once to every rank, and over the network once to every node, that holds one
// of its experts; the given SMs copy it. Low latency: it goes to each of its experts on its own.
//   normal:      t = pnorm(floor + hidden_cost h + token_cost T / sms, nv / beta + rd / network;
//   p),
//                beta^-2 = (sms sm_rate)^-2 + rate^-2
//   low latency: t = pnorm(floor + hidden_cost h + expert_cost E + topk_cost k,
//                          bytes ((1 - f) / rate + f / network); p), f = (nodes - 1) / nodes
// Floors and rates change by a factor with every doubling of the nodes beyond the first two.
namespace kvsim::cost {
namespace {

constexpr double bytes_per_us = 1e3;  // of one GB/s
constexpr double gpus_per_node = 8;
// Per element: fp8 with a 4-byte scale per 128 on the way there, bf16 on the way back.
double width(const ExpertExchange& s) { return s.dispatch ? 1 + 4.0 / 128 : 2; }

// Expected distinct ones of n that hold one of topk experts.
double reached(double n, double topk) { return n * (1 - std::pow(1 - 1 / n, topk)); }

struct Loads {
  double total = 0, network = 0;  // bytes that a rank sends
  double doublings = 0;           // of the nodes, from two
};
Loads loads(const ExpertExchange& s) {
  Loads l;
  const double token = s.tokens * s.hidden * width(s), away = (s.nodes - 1) / s.nodes;
  l.doublings = std::max(0.0, std::log2(s.nodes / 2));
  if (s.low_latency) {
    l.total = token * s.topk, l.network = l.total * away;
  } else {
    l.total = token * reached(gpus_per_node * s.nodes, s.topk);
    l.network = token * reached(s.nodes, s.topk) * away;
  }
  return l;
}

// Where the parameters of the network stand, after those of the node.
struct Network {
  double floor = 0, step = 1, rate = 1, gain = 1, sm_gain = 1;
  explicit Network(std::span<const double> p) {
    if (p.size() >= 4) floor = p[0], step = p[1], rate = p[2], gain = p[3];
    if (p.size() >= 5) sm_gain = p[4];
  }
  double added_floor(const ExpertExchange& s, const Loads& l) const {
    return s.nodes > 1 ? floor * std::pow(step, l.doublings) : 0;
  }
  double microseconds(const Loads& l) const {
    return l.network / (bytes_per_us * rate * std::pow(gain, l.doublings));
  }
};

double normal(const Shape& shape, const Device& device, std::span<const double> p, Buffers) {
  const auto& s = std::get<ExpertExchange>(shape);
  const Loads l = loads(s);
  const Network network(p.subspan(6));
  const double sms = s.sms > 0 ? s.sms : std::min(20.0, device.sms);  // DeepEP's own choice
  const double sm_rate = sms * p[4] * std::pow(network.sm_gain, std::log2(s.nodes));
  const double rate = 1 / std::sqrt(1 / (sm_rate * sm_rate) + 1 / (p[3] * p[3]));
  const double floor =
      p[0] + network.added_floor(s, l) + p[1] * s.hidden / 1e4 + p[2] * s.tokens / (40 * sms);
  return pnorm(floor, l.total / (bytes_per_us * rate) + network.microseconds(l), p[5]);
}

double low_latency(const Shape& shape, const Device&, std::span<const double> p, Buffers) {
  const auto& s = std::get<ExpertExchange>(shape);
  const Loads l = loads(s);
  const Network network(p.subspan(6));
  const double floor = p[0] + network.added_floor(s, l) + p[1] * s.hidden / 1e4 +
                       p[2] * s.n_experts / 1e3 + p[3] * s.topk;
  return pnorm(floor, (l.total - l.network) / (bytes_per_us * p[4]) + network.microseconds(l),
               p[5]);
}

Features features(const Shape& shape) {
  const auto& s = std::get<ExpertExchange>(shape);
  return {std::log2(std::max(1.0, loads(s).total)), std::log2(std::max(1.0, s.tokens)),
          std::log2(std::max(1.0, s.sms)), std::log2(s.nodes)};
}
constexpr std::array<std::string_view, 4> names{"log2_bytes", "log2_tokens", "log2_sms",
                                                "log2_nodes"};

constexpr std::array<Parameter, 11> normal_parameters{{
    {"floor", 25, 1, 200},
    {"hidden_cost", 10, 0.01, 100},
    {"token_cost", 5, 0.01, 200},
    {"rate", 700, 20, 4000, Scaling::link},
    {"sm_rate", 28, 2, 200},
    {"sharpness", 0.9, 0.6, 6},
    {"network_floor", 10, 0.1, 200},
    {"network_step", 1.5, 0.7, 4},
    {"network_rate", 40, 2, 400},
    {"network_gain", 0.8, 0.2, 2},
    {"network_sm_gain", 0.9, 0.3, 2},
}};
constexpr std::array<Parameter, 10> low_latency_parameters{{
    {"floor", 12, 1, 200},
    {"hidden_cost", 2, 0.01, 100},
    {"expert_cost", 5, 0.01, 100},
    {"topk_cost", 0.05, 0.001, 0.35},
    {"rate", 300, 20, 4000, Scaling::link},
    {"sharpness", 1.1, 0.6, 6},
    {"network_floor", 12, 0.1, 200},
    {"network_step", 1.5, 0.7, 4},
    {"network_rate", 45, 2, 400},
    {"network_gain", 0.8, 0.2, 2},
}};
bool is_normal(const Shape& s) { return !std::get<ExpertExchange>(s).low_latency; }
bool is_low_latency(const Shape& s) { return std::get<ExpertExchange>(s).low_latency; }

constexpr std::span<const Parameter> in_normal(normal_parameters);
constexpr std::span<const Parameter> in_low_latency(low_latency_parameters);
constexpr std::array<Form, 4> table{{
    {"moe_a2a", "normal", "DeepEP's normal kernels in one node", is_normal, in_normal.first(6),
     normal, features, names},
    {"moe_a2a", "normal_nodes", "DeepEP's normal kernels over nodes", is_normal, in_normal, normal,
     features, names},
    {"moe_a2a", "low_latency", "DeepEP's low-latency kernels in one node", is_low_latency,
     in_low_latency.first(6), low_latency, features, names},
    {"moe_a2a", "low_latency_nodes", "DeepEP's low-latency kernels over nodes", is_low_latency,
     in_low_latency, low_latency, features, names},
}};

}  // namespace

std::span<const Form> exchange_forms() { return table; }

}  // namespace kvsim::cost
