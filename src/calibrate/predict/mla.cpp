#include "calibrate/predict/floors.h"
#include "calibrate/predict/work.h"
#include "cost/roofline_constants.h"

// DeepSeek-V3's attention: hidden 7168, query latent 1536, KV latent 512 and 64 for positions,
// heads of 128 (+ 64 for positions) and values of 128.
namespace kvsim::calibrate {
namespace {

constexpr double hidden = 7168, query_latent = 1536, latent = 512, rope = 64, head = 128;

Work core(const Mla& s, double kv_bytes, spec::DType operands) {
  const double batch = static_cast<double>(s.batch), heads = static_cast<double>(s.n_heads);
  const double q = static_cast<double>(s.q_len), kv = static_cast<double>(s.kv_len);
  Work w;
  w.floor = mla_floor, w.operands = operands, w.matrix_share = cost::roofline::attention_share;
  if (s.decode) {
    w.replayed = w.resident = batch * kv * (latent + rope) * kv_bytes;
    w.bytes = w.replayed + 2 * batch * q * heads * (2 * latent + rope);
    w.flops = 2 * batch * q * kv * heads * (2 * latent + rope);
  } else {
    w.replayed = w.resident =
        batch * (2 * q * heads * (2 * head + rope) + 2 * kv * heads * (2 * head + rope) +
                 kv * (latent + rope) * kv_bytes);
    w.bytes = w.replayed;
    w.flops = 2 * batch * heads * (2 * head + rope) * causal_pairs(q, kv, 0);
  }
  return w;
}

// One matrix per head.
Work per_head(double tokens, double heads, double rows, double columns, const Format& format) {
  Work w;
  w.replayed = w.resident = heads * rows * columns * format.weight_bytes;
  w.bytes = w.replayed + tokens * heads * (rows * format.activation_bytes + 2 * columns);
  w.flops = 2 * tokens * heads * rows * columns;
  w.operands = format.operands, w.matrix_share = cost::roofline::gemm_share,
  w.floor = mla_bmm_floor;
  return w;
}

}  // namespace

WorkPlan plan(const Mla& s, const Measurement& m) {
  const auto kv = find_format(m.kv_dtype), compute = find_format(m.dtype);
  if (!kv) return unknown_dtype(m.kv_dtype);
  if (!compute) return unknown_dtype(m.dtype);
  if (s.kv_len < s.q_len) return {{}, "fewer keys than queries"};
  // Decode multiplies with the cache as it is stored; prefill re-materialises keys and values.
  WorkPlan out{{core(s, kv->weight_bytes, s.decode ? kv->operands : compute->operands)}, {}};
  if (s.gemm_dtype.empty()) return out;

  const auto format = find_format(s.gemm_dtype);
  if (!format) return unknown_dtype(s.gemm_dtype);
  const double tokens = static_cast<double>(s.batch * s.q_len),
               heads = static_cast<double>(s.n_heads);
  out.work.push_back(gemm_work(tokens, query_latent + latent + rope, hidden, *format));
  out.work.push_back(gemm_work(tokens, heads * (head + rope), query_latent, *format));
  out.work.push_back(gemm_work(tokens, hidden, heads * head, *format));
  if (s.decode) {
    out.work.push_back(per_head(tokens, heads, head, latent, Format{}));
    out.work.push_back(per_head(tokens, heads, latent, head, Format{}));
  } else {
    out.work.push_back(
        gemm_work(static_cast<double>(s.batch * s.kv_len), heads * 2 * head, latent, *format));
  }
  Work norms;  // two norms, rope and cache write
  norms.bytes = tokens * (4 * (query_latent + latent) + 4 * (heads + 1) * rope +
                          (latent + rope) * (2 + kv->weight_bytes));
  norms.floor = elementwise_floor;
  out.work.push_back(norms);
  return out;
}

WorkPlan plan(const MlaBmm& s, const Measurement& m) {
  const auto format = find_format(m.dtype);
  if (!format) return unknown_dtype(m.dtype);
  const double tokens = static_cast<double>(s.tokens), heads = static_cast<double>(s.n_heads);
  return {{s.pre ? per_head(tokens, heads, head, latent, *format)
                 : per_head(tokens, heads, latent, head, *format)},
          {}};
}

}  // namespace kvsim::calibrate
