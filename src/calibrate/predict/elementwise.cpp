#include "calibrate/predict/floors.h"
#include "calibrate/predict/work.h"

namespace kvsim::calibrate {

WorkPlan plan(const MemoryOp& s, const Measurement&) {
  const double elements = static_cast<double>(s.m) * static_cast<double>(s.k);
  Work w;
  if (s.op == "scale_matrix")
    w.bytes = 3 * elements;  // bf16 in, fp8 out
  else if (s.op == "computescale")
    w.bytes = 2 * elements;  // largest magnitude
  else
    return {{}, "operation \"" + s.op + "\" has no formula"};
  w.replayed = w.resident = w.bytes, w.floor = elementwise_floor;
  return {{w}, {}};
}

WorkPlan plan(const LayerOp& s, const Measurement&) {
  const double tokens = static_cast<double>(s.tokens), ranks = static_cast<double>(s.tp);
  const double hidden = static_cast<double>(s.hidden),
               ffn = static_cast<double>(s.ffn_hidden) / ranks;
  const double heads = static_cast<double>(s.n_head) / ranks,
               kv_heads = static_cast<double>(s.n_kv_head) / ranks;
  const double dim = hidden / static_cast<double>(s.n_head);
  if (s.op == "attn_pre_proj")
    return {{gemm_work(tokens, (heads + 2 * kv_heads) * dim, hidden, Format{})}, {}};
  if (s.op == "attn_post_proj") return {{gemm_work(tokens, hidden, heads * dim, Format{})}, {}};
  if (s.op == "mlp_up_proj") return {{gemm_work(tokens, 2 * ffn, hidden, Format{})}, {}};
  if (s.op == "mlp_down_proj") return {{gemm_work(tokens, hidden, ffn, Format{})}, {}};
  Work w;
  if (s.op == "input_layernorm" || s.op == "post_attention_layernorm" || s.op == "emb")
    w.bytes = 4 * tokens * hidden;
  else if (s.op == "add")
    w.bytes = 6 * tokens * hidden;
  else if (s.op == "attn_rope")
    w.bytes = 4 * tokens * (heads + kv_heads) * dim;
  else if (s.op == "mlp_act")
    w.bytes = 6 * tokens * ffn;
  else
    return {{}, "operation \"" + s.op + "\" has no formula"};
  w.replayed = w.resident = w.bytes, w.floor = elementwise_floor;
  return {{w}, {}};
}

}  // namespace kvsim::calibrate
