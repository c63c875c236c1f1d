#include <algorithm>
#include <array>
#include <cmath>

#include "cost/operators/form.h"
#include "cost/operators/work.h"

// The plain roofline of every kernel: what each one moves and computes.
namespace kvsim::cost {
namespace {

double exchange_targets(const ExpertExchange& s) {
  const double ranks = 8 * s.nodes;
  return s.low_latency ? s.topk : ranks * (1 - std::pow(1 - 1 / ranks, s.topk));
}

struct WorkOf {
  Work operator()(const Gemm& s) const {
    return {
        s.n * s.k * s.format.weight_bytes + s.m * s.k * s.format.activation_bytes + 2 * s.m * s.n,
        2 * s.m * s.n * s.k, 0};
  }
  Work operator()(const DecodeAttention& s) const {
    const double seen = s.window > 0 ? std::min(s.window, s.kv_len) : s.kv_len;
    return {s.batch * s.head_dim *
                (2 * s.n_kv_heads * seen * s.kv.weight_bytes + 4 * s.queries * s.n_heads),
            4 * s.batch * s.queries * s.n_heads * seen * s.head_dim, 0};
  }
  Work operator()(const PrefillAttention& s) const {
    const double pairs =
        s.pairs > 0 ? s.pairs : s.batch * causal_pairs(s.q_len, s.kv_len, s.window);
    return {s.batch * s.head_dim *
                (4 * s.q_len * (s.n_heads + s.n_kv_heads) +
                 2 * s.kv_len * s.n_kv_heads * s.kv.weight_bytes),
            4 * s.n_heads * s.head_dim * pairs, 0};
  }
  Work operator()(const Mla& s) const {
    if (s.decode)
      return {s.batch * (s.kv_len * (s.latent + s.rope) * s.kv.weight_bytes +
                         2 * s.q_len * s.n_heads * (2 * s.latent + s.rope)),
              2 * s.batch * s.q_len * s.kv_len * s.n_heads * (2 * s.latent + s.rope), 0};
    const double width = s.nope + s.rope + s.value;
    const double pairs = s.pairs > 0 ? s.pairs : s.batch * causal_pairs(s.q_len, s.kv_len, 0);
    return {s.batch * (2 * (s.q_len + s.kv_len) * s.n_heads * width +
                       s.kv_len * (s.latent + s.rope) * s.kv.weight_bytes),
            2 * s.n_heads * width * pairs, 0};
  }
  Work operator()(const MlaModule& s) const {
    Work w = (*this)(s.core);
    const double tokens = s.core.batch * s.core.q_len, heads = s.core.n_heads;
    const double weights = s.query_latent * s.hidden + s.hidden * (s.core.latent + s.core.rope) +
                           heads * (s.core.nope + s.core.rope) * s.query_latent +
                           s.hidden * heads * s.core.value;
    const double up = heads * s.core.latent * (s.core.nope + s.core.value);
    w.bytes += weights * s.projections.weight_bytes + 2 * up;
    w.flops += 2 * tokens * (weights + up);
    return w;
  }
  Work operator()(const MlaBmm& s) const {
    return {s.n_heads * s.latent * s.head * s.format.weight_bytes +
                s.tokens * s.n_heads * 2 * (s.latent + s.head),
            2 * s.tokens * s.n_heads * s.latent * s.head, 0};
  }
  Work operator()(const ExpertMlp& s) const {
    const double local = s.n_experts / s.moe_ep, width = s.inter / s.moe_tp;
    const double touched = local * (1 - std::pow(1 - s.topk / s.n_experts, s.tokens));
    const double rows = s.tokens * s.topk / s.moe_ep, matrices = s.gated ? 3 : 2;
    return {touched * matrices * s.hidden * width * s.format.weight_bytes +
                rows * (s.hidden * (s.format.activation_bytes + 2) +
                        width * ((matrices - 1) * 2 + s.format.activation_bytes)),
            2 * rows * matrices * s.hidden * width, 0};
  }
  Work operator()(const Collective& s) const {
    const double n = s.num_gpus;
    switch (s.op) {
      case Collective::Op::all_reduce:
        return {0, 0, 2 * (n - 1) / n * s.bytes};
      case Collective::Op::all_gather:
      case Collective::Op::reduce_scatter:
      case Collective::Op::all_to_all:
        return {0, 0, (n - 1) / n * s.bytes};
      case Collective::Op::send_recv:
        return {0, 0, s.bytes};
    }
    return {};
  }
  Work operator()(const ExpertExchange& s) const {
    return {0, 0, s.tokens * s.hidden * (s.dispatch ? 1 + 4.0 / 128 : 2) * exchange_targets(s)};
  }
  Work operator()(const Elementwise& s) const { return {s.bytes(), 0, 0}; }
  Work operator()(const Stated& s) const { return {s.bytes, s.flops, 0}; }
};

constexpr double per_us = 1e3, tera_per_us = 1e6;  // GB/s and TFLOP/s in bytes and flops per us

constexpr std::array<Parameter, 3> local_parameters{{
    {"floor", 5, 0.1, 500},
    {"bandwidth", 2000, 1, 20000, Scaling::bandwidth},
    {"rate", 500, 0.1, 20000, Scaling::matrix_rate},
}};
double local_us(const Shape& shape, const Device&, std::span<const double> p, Buffers) {
  const Work w = work_of(shape);
  return p[0] + std::max(w.bytes / (p[1] * per_us), w.flops / (p[2] * tera_per_us));
}

constexpr std::array<Parameter, 2> link_parameters{{
    {"floor", 8, 0.1, 1000},
    {"bandwidth", 100, 0.1, 5000, Scaling::link},
}};
double link_us(const Shape& shape, const Device&, std::span<const double> p, Buffers) {
  return p[0] + work_of(shape).link_bytes / (p[1] * per_us);
}

constexpr std::array<std::string_view, 2> local_names{"log2_bytes", "log2_flops"};
Features local_features(const Shape& shape) {
  const Work w = work_of(shape);
  return {std::log2(std::max(1.0, w.bytes)), std::log2(std::max(1.0, w.flops))};
}
constexpr std::array<std::string_view, 1> link_names{"log2_bytes"};
Features link_features(const Shape& shape) {
  return {std::log2(std::max(1.0, work_of(shape).link_bytes))};
}

constexpr std::string_view summary = "floor + max(bytes / bandwidth, flops / rate)";
constexpr Form local(std::string_view kernel) {
  return {kernel,           baseline_form, summary,        nullptr,
          local_parameters, local_us,      local_features, local_names};
}
constexpr Form link(std::string_view kernel) {
  return {kernel,          baseline_form, summary,       nullptr,
          link_parameters, link_us,       link_features, link_names};
}
constexpr std::array<Form, 12> table{local("gemm"),
                                     local("decode_attn"),
                                     local("prefill_attn"),
                                     local("mla"),
                                     local("mla_module"),
                                     local("mla_bmm"),
                                     local("moe"),
                                     link("comm"),
                                     link("moe_a2a"),
                                     local("memops"),
                                     local("vidur_layer_ops"),
                                     local("bench")};

}  // namespace

std::span<const Form> baseline_forms() { return table; }

Work work_of(const Shape& shape) { return std::visit(WorkOf{}, shape); }

double causal_pairs(double q, double kv, double window) {
  const double first = kv - q + 1;  // keys that the first query sees
  if (window <= 0 || window >= kv) return q * (first + kv) / 2;
  if (window <= first) return q * window;
  const double growing = window - first;  // queries that still see fewer keys than the window
  return growing * (first + window - 1) / 2 + (q - growing) * window;
}

}  // namespace kvsim::cost
