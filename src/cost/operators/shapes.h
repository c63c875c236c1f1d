#pragma once
#include <string_view>
#include <variant>

#include "cost/operators/format.h"

// What one call of an operator on one GPU works on. Counts are doubles: a step passes means over
// its requests. Heads, widths and experts are those of this GPU unless a name says otherwise.
namespace kvsim::cost {

// y[m, n] = x[m, k] w[n, k]^T.
struct Gemm {
  double m = 0, n = 0, k = 0;
  Format format;
};
// One query token for each of `batch` sequences of `kv_len` tokens (the new one included).
struct DecodeAttention {
  double batch = 0, kv_len = 0, n_heads = 0, n_kv_heads = 0, head_dim = 0;
  double window = 0;   // tokens; 0 = full attention
  double queries = 1;  // per sequence: a speculative verify has several
  Format kv, compute;  // kv.weight_bytes is the cache's bytes per element
};
// Causal attention of `q_len` queries at the end of `kv_len` keys, for each of `batch` sequences.
struct PrefillAttention {
  double batch = 0, q_len = 0, kv_len = 0, n_heads = 0, n_kv_heads = 0, head_dim = 0;
  double window = 0;
  double pairs = 0;  // (query, key) pairs of all sequences where they differ in length; 0 = equal
  Format kv, compute;
};
// DeepSeek's multi-head latent attention: the core, absorbed in decode, materialised in prefill.
struct Mla {
  bool decode = true;
  double batch = 0, q_len = 1, kv_len = 0, n_heads = 0;
  double pairs = 0;  // prefill, as above
  double latent = 512, rope = 64, nope = 128, value = 128;
  Format kv, compute;
};
// The whole block: projections, norms, rope, cache write, core, output projection.
struct MlaModule {
  Mla core;
  double hidden = 7168, query_latent = 1536;
  Format projections;
};
// The per-head products before (pre) and after absorbed decode.
struct MlaBmm {
  bool pre = true;
  double tokens = 0, n_heads = 0;
  double latent = 512, head = 128;
  Format format;
};
// The routed experts of a layer on one GPU: permute, grouped products, activation, finalize.
// `tokens` enter before the split; experts and width are those of the whole layer.
struct ExpertMlp {
  double tokens = 0, hidden = 0, inter = 0, topk = 0, n_experts = 0, moe_tp = 1, moe_ep = 1;
  double skew = 0;    // exponent of a power-law router, this GPU being a hot rank; 0 = balanced
  bool gated = true;  // three matrices, else two
  Format format;
};
// A collective over `num_gpus` GPUs with `bytes` per rank.
struct Collective {
  enum class Op { all_reduce, all_gather, reduce_scatter, all_to_all, send_recv };
  Op op = Op::all_reduce;
  double num_gpus = 2, bytes = 0;
  double gpus_per_node = 8;
};
// MoE dispatch or combine over `nodes` of eight GPUs with `tokens` per rank.
struct ExpertExchange {
  bool dispatch = true, low_latency = false;
  double nodes = 1, tokens = 0, hidden = 0, topk = 0, n_experts = 0;
  double sms = 0;  // given to it; 0 = its own choice
};
// A kernel that streams `rows` rows of `row_bytes` bytes read and written.
struct Elementwise {
  double rows = 0, row_bytes = 0;
  double bytes() const { return rows * row_bytes; }
};

// A kernel that states itself what it moves and computes (kvbench).
struct Stated {
  double bytes = 0, flops = 0;
};

using Shape = std::variant<Gemm, DecodeAttention, PrefillAttention, Mla, MlaModule, MlaBmm,
                           ExpertMlp, Collective, ExpertExchange, Elementwise, Stated>;

// (query, key) pairs of `q` causal queries at the end of `kv` keys, the last `window` of them
// visible (0 = all).
double causal_pairs(double q, double kv, double window);

}  // namespace kvsim::cost
