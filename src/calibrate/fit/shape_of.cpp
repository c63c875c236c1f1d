#include "calibrate/fit/shape_of.h"

#include <fmt/format.h>

#include <charconv>

namespace kvsim::calibrate {
namespace {

double wide(std::int64_t n) { return static_cast<double>(n); }
OperatorShape refuse(std::string why) { return {{}, std::move(why)}; }
OperatorShape unknown(const std::string& dtype) {
  return refuse(fmt::format("dtype \"{}\" is not known", dtype));
}

OperatorShape shape(const DecodeAttention& s, const Measurement& m) {
  const auto kv = cost::find_format(m.kv_dtype), compute = cost::find_format(m.dtype);
  if (!kv || !compute) return unknown(kv ? m.dtype : m.kv_dtype);
  return {cost::DecodeAttention{wide(s.batch), wide(s.kv_len), wide(s.n_heads), wide(s.n_kv_heads),
                                wide(s.head_dim), wide(s.window), 1, *kv, *compute},
          {}};
}

OperatorShape shape(const PrefillAttention& s, const Measurement& m) {
  const auto kv = cost::find_format(m.kv_dtype), compute = cost::find_format(m.dtype);
  if (!kv || !compute) return unknown(kv ? m.dtype : m.kv_dtype);
  if (s.kv_len < s.q_len) return refuse("fewer keys than queries");
  return {cost::PrefillAttention{wide(s.batch), wide(s.q_len), wide(s.kv_len), wide(s.n_heads),
                                 wide(s.n_kv_heads), wide(s.head_dim), wide(s.window), 0, *kv,
                                 *compute},
          {}};
}

OperatorShape shape(const Mla& s, const Measurement& m) {
  const auto kv = cost::find_format(m.kv_dtype), compute = cost::find_format(m.dtype);
  if (!kv || !compute) return unknown(kv ? m.dtype : m.kv_dtype);
  if (s.kv_len < s.q_len) return refuse("fewer keys than queries");
  cost::Mla core;
  core.decode = s.decode;
  core.batch = wide(s.batch), core.q_len = wide(s.q_len), core.kv_len = wide(s.kv_len);
  core.n_heads = wide(s.n_heads), core.kv = *kv, core.compute = *compute;
  if (s.gemm_dtype.empty()) return {core, {}};
  const auto projections = cost::find_format(s.gemm_dtype);
  if (!projections) return unknown(s.gemm_dtype);
  cost::MlaModule module;
  module.core = core, module.projections = *projections;
  return {module, {}};
}

OperatorShape shape(const MlaBmm& s, const Measurement& m) {
  const auto format = cost::find_format(m.dtype);
  if (!format) return unknown(m.dtype);
  cost::MlaBmm out;
  out.pre = s.pre, out.tokens = wide(s.tokens), out.n_heads = wide(s.n_heads);
  out.format = *format;
  return {out, {}};
}

OperatorShape shape(const Gemm& s, const Measurement& m) {
  const auto format = cost::find_format(m.dtype);
  if (!format) return unknown(m.dtype);
  return {cost::Gemm{wide(s.m), wide(s.n), wide(s.k), *format}, {}};
}

OperatorShape shape(const ExpertMlp& s, const Measurement& m) {
  const auto format = cost::find_format(m.dtype);
  if (!format) return unknown(m.dtype);
  if (s.topk > s.n_experts) return refuse("more experts per token than there are");
  cost::ExpertMlp out;
  out.tokens = wide(s.tokens), out.hidden = wide(s.hidden), out.inter = wide(s.inter);
  out.topk = wide(s.topk), out.n_experts = wide(s.n_experts);
  out.moe_tp = wide(s.moe_tp), out.moe_ep = wide(s.moe_ep);
  constexpr std::string_view skewed = "power_law_";
  if (s.distribution.starts_with(skewed)) {
    const char* end = s.distribution.data() + s.distribution.size();
    if (std::from_chars(s.distribution.data() + skewed.size(), end, out.skew).ptr != end ||
        out.skew <= 0)
      return refuse(fmt::format("distribution \"{}\" is not known", s.distribution));
  } else if (s.distribution != "balanced") {
    return refuse(fmt::format("distribution \"{}\" is not known", s.distribution));
  }
  out.gated = !m.backend.ends_with("nongated");
  out.format = *format;
  return {out, {}};
}

// vidur's implementations end in the number of GPUs that they used per node.
double gpus_per_node(const std::string& impl) {
  const std::size_t at = impl.find_last_not_of("0123456789");
  double n = 8;
  if (impl.starts_with("torch_nccl_devpernode"))
    std::from_chars(impl.data() + at + 1, impl.data() + impl.size(), n);
  return n;
}

OperatorShape shape(const Collective& s, const Measurement&) {
  using Op = cost::Collective::Op;
  cost::Collective out;
  if (s.op == "all_reduce")
    out.op = Op::all_reduce;
  else if (s.op == "all_gather")
    out.op = Op::all_gather;
  else if (s.op == "reduce_scatter")
    out.op = Op::reduce_scatter;
  else if (s.op == "alltoall")
    out.op = Op::all_to_all;
  else if (s.op == "send_recv")
    out.op = Op::send_recv;
  else
    return refuse("collective \"" + s.op + "\" has no formula");
  out.num_gpus = wide(s.num_gpus), out.bytes = wide(s.bytes);
  out.gpus_per_node = gpus_per_node(s.impl);
  return {out, {}};
}

OperatorShape shape(const ExpertExchange& s, const Measurement&) {
  cost::ExpertExchange out;
  out.dispatch = s.op.ends_with("_dispatch"), out.low_latency = s.op.starts_with("deepep_ll_");
  if (!(out.dispatch || s.op.ends_with("_combine")) ||
      !(out.low_latency || s.op.starts_with("deepep_normal_")))
    return refuse("exchange \"" + s.op + "\" has no formula");
  out.nodes = wide(s.nodes), out.tokens = wide(s.tokens), out.hidden = wide(s.hidden);
  out.topk = wide(s.topk), out.n_experts = wide(s.n_experts), out.sms = wide(s.sms);
  return {out, {}};
}

OperatorShape shape(const MemoryOp& s, const Measurement&) {
  double per_element = 0;
  if (s.op == "scale_matrix")
    per_element = 3;  // bf16 in, fp8 out
  else if (s.op == "computescale")
    per_element = 2;  // largest magnitude
  else
    return refuse("operation \"" + s.op + "\" has no formula");
  return {cost::Elementwise{wide(s.m), per_element * wide(s.k)}, {}};
}

OperatorShape shape(const LayerOp& s, const Measurement&) {
  const double tokens = wide(s.tokens), ranks = wide(s.tp), hidden = wide(s.hidden);
  const double ffn = wide(s.ffn_hidden) / ranks;
  const double heads = wide(s.n_head) / ranks, kv_heads = wide(s.n_kv_head) / ranks;
  const double dim = hidden / wide(s.n_head);
  const auto gemm = [&](double n, double k) {
    return OperatorShape{cost::Gemm{tokens, n, k, cost::Format{}}, {}};
  };
  if (s.op == "attn_pre_proj") return gemm((heads + 2 * kv_heads) * dim, hidden);
  if (s.op == "attn_post_proj") return gemm(hidden, heads * dim);
  if (s.op == "mlp_up_proj") return gemm(2 * ffn, hidden);
  if (s.op == "mlp_down_proj") return gemm(hidden, ffn);
  if (s.op == "input_layernorm" || s.op == "post_attention_layernorm" || s.op == "emb")
    return {cost::Elementwise{tokens, 4 * hidden}, {}};
  if (s.op == "add") return {cost::Elementwise{tokens, 6 * hidden}, {}};
  if (s.op == "attn_rope") return {cost::Elementwise{tokens, 4 * (heads + kv_heads) * dim}, {}};
  if (s.op == "mlp_act") return {cost::Elementwise{tokens, 6 * ffn}, {}};
  return refuse("operation \"" + s.op + "\" has no formula");
}

OperatorShape shape(const BenchCase& s, const Measurement&) {
  return {cost::Stated{s.bytes, s.flops}, {}};
}
OperatorShape shape(const Serving&, const Measurement&) { return refuse("a serving run"); }

}  // namespace

OperatorShape shape_of(const Measurement& m) {
  return std::visit([&](const auto& s) { return shape(s, m); }, m.shape);
}

}  // namespace kvsim::calibrate
