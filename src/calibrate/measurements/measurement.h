#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cost/operators/form.h"

// What a row of a measurement file says, whatever file it came from. Counts are those of one GPU
// unless a name says otherwise; the columns they come from are named as in the files.
namespace kvsim::calibrate {

struct DecodeAttention {
  std::int64_t batch = 0, kv_len = 0, n_heads = 0, n_kv_heads = 0, head_dim = 0, window = 0;
};
struct PrefillAttention {
  std::int64_t batch = 0, q_len = 0, kv_len = 0, n_heads = 0, n_kv_heads = 0, head_dim = 0;
  std::int64_t window = 0;
};
// DeepSeek MLA: the attention core, or with `gemm_dtype` the whole block with its projections.
struct Mla {
  bool decode = true;
  std::int64_t batch = 0, q_len = 0, kv_len = 0, n_heads = 0;
  std::string gemm_dtype;  // "" = core only
};
// The per-head products before (pre) and after (post) absorbed MLA decode.
struct MlaBmm {
  bool pre = true;
  std::int64_t tokens = 0, n_heads = 0;
};
struct Gemm {
  std::int64_t m = 0, n = 0, k = 0;
};
// A whole fused expert MLP; experts and width are those of the whole model.
struct ExpertMlp {
  std::int64_t tokens = 0, hidden = 0, inter = 0, topk = 0, n_experts = 0, moe_tp = 0, moe_ep = 0;
  std::string distribution;
};
struct Collective {
  std::string op, impl;
  std::int64_t num_gpus = 0, bytes = 0;  // message per rank
};
struct ExpertExchange {
  std::string op;
  std::int64_t nodes = 0, tokens = 0, hidden = 0, topk = 0, n_experts = 0, sms = 0;
};
struct MemoryOp {
  std::string op;
  std::int64_t m = 0, k = 0;
};
// A piece of a decoder layer in fp16.
struct LayerOp {
  std::string op;
  std::int64_t tokens = 0, tp = 0, n_head = 0, n_kv_head = 0, hidden = 0, ffn_hidden = 0;
};
// A case of kvbench, which states the bytes and flops of its own kernel.
struct BenchCase {
  double bytes = 0, flops = 0;
};
// A serving run end to end.
struct Serving {
  std::string model, precision;
  double prompt = 0, output = 0;  // mean tokens
  std::int64_t concurrency = 0;   // in flight per engine; 0 = as many as fit
  // tp 0: as few GPUs as hold it, and as many such engines as there are GPUs.
  std::int64_t tp = 1, pp = 1, attn_dp = 1, moe_ep = 1, gpus = 1;
  std::string unrepresentable;  // why no model can predict it; "" = one can
};

using Shape = std::variant<DecodeAttention, PrefillAttention, Mla, MlaBmm, Gemm, ExpertMlp,
                           Collective, ExpertExchange, MemoryOp, LayerOp, BenchCase, Serving>;

// One figure that was measured. `kernel` is the group it counts in.
struct Figure {
  std::string kernel;
  double value = 0;  // seconds; tokens per second and GPU for e2e_throughput
};

// What the rows of kvbench, our own kernels, carry as their framework.
inline constexpr std::string_view kvbench_framework = "kvbench";

struct Measurement {
  std::string gpu;  // as the file spells it
  std::string framework, version, backend;
  std::string dtype, kv_dtype;  // as the file spells them; kv_dtype "" where it has none
  std::string regime;           // a phase or operation within the kernel; "" = one only
  Shape shape;
  // Cold: the measurement rotated over buffer sets that do not fit the L2 cache together.
  cost::Buffers buffers = cost::Buffers::replayed;
  std::vector<Figure> figures;
  std::string unmeasured;  // why the row has no figure ("skipped_budget"); "" = it has
};

}  // namespace kvsim::calibrate
