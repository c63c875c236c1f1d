#include <algorithm>

#include "calibrate/predict/floors.h"
#include "calibrate/predict/work.h"
#include "cost/roofline_constants.h"

namespace kvsim::calibrate {

WorkPlan plan(const DecodeAttention& s, const Measurement& m) {
  const auto kv = find_format(m.kv_dtype), compute = find_format(m.dtype);
  if (!kv) return unknown_dtype(m.kv_dtype);
  if (!compute) return unknown_dtype(m.dtype);
  const double batch = static_cast<double>(s.batch), heads = static_cast<double>(s.n_heads);
  const double attended =
      static_cast<double>(s.window > 0 ? std::min(s.window, s.kv_len) : s.kv_len);
  const double dim = static_cast<double>(s.head_dim);
  Work w;
  w.replayed = w.resident =
      2 * batch * static_cast<double>(s.n_kv_heads) * attended * dim * kv->weight_bytes;
  w.bytes = w.replayed + batch * heads * dim * (compute->activation_bytes + 2);
  w.flops = 4 * batch * heads * attended * dim;
  w.operands = compute->operands, w.matrix_share = cost::roofline::attention_share;
  w.floor = decode_attention_floor;
  return {{w}, {}};
}

WorkPlan plan(const PrefillAttention& s, const Measurement& m) {
  const auto kv = find_format(m.kv_dtype), compute = find_format(m.dtype);
  if (!kv) return unknown_dtype(m.kv_dtype);
  if (!compute) return unknown_dtype(m.dtype);
  if (s.kv_len < s.q_len) return {{}, "fewer keys than queries"};
  const double batch = static_cast<double>(s.batch), q = static_cast<double>(s.q_len);
  const double heads = static_cast<double>(s.n_heads), kv_heads = static_cast<double>(s.n_kv_heads);
  const double dim = static_cast<double>(s.head_dim), keys = static_cast<double>(s.kv_len);
  Work w;
  w.replayed = w.resident =
      batch * dim * (4 * q * heads + 4 * q * kv_heads + 2 * keys * kv_heads * kv->weight_bytes);
  w.bytes = w.replayed;
  w.flops = 4 * batch * heads * dim * causal_pairs(q, keys, static_cast<double>(s.window));
  w.operands = compute->operands, w.matrix_share = cost::roofline::attention_share;
  w.floor = prefill_attention_floor;
  return {{w}, {}};
}

}  // namespace kvsim::calibrate
