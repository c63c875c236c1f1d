#pragma once
#include <string>
#include <vector>

#include "cost/library/cost_library.h"
#include "cost/operators/form.h"
#include "cost/step/fitted_step.h"
#include "spec/catalog.h"

// Cost files whose operators are plain rooflines, so that a test can say what each call takes, and
// a small dense model of known dimensions.
namespace kvsim::cost::testing {

// floor_us + max(bytes / gb_per_s, flops / tflops); collectives floor_us + bytes / gb_per_s.
struct Toy {
  double floor_us = 0, gb_per_s = 0, tflops = 0;
};
inline OperatorFit toy_fit(std::string kernel, Toy t, std::string dtype = "bf16",
                           std::string kv_dtype = "", std::string regime = "",
                           std::string backend = "") {
  OperatorFit f;
  f.form = baseline_form;
  f.parameter_names = {"floor", "bandwidth"};
  f.parameters = {t.floor_us, t.gb_per_s};
  if (kernel != "comm") f.parameter_names.push_back("rate"), f.parameters.push_back(t.tflops);
  f.kernel = std::move(kernel), f.dtype = std::move(dtype), f.kv_dtype = std::move(kv_dtype);
  f.regime = std::move(regime), f.backend = std::move(backend);
  f.errors.n = 100;
  f.log_sigma = 0.1;
  f.log_quantiles = {-0.16, -0.07, 0, 0.07, 0.16};
  return f;
}

inline constexpr Toy toy_gemm{7, 2000, 400}, toy_decode{11, 1500, 300}, toy_prefill{13, 1200, 250},
    toy_moe{29, 1000, 200}, toy_mla_decode{17, 1100, 350}, toy_mla_prefill{19, 900, 280},
    toy_bmm{5, 1700, 150}, toy_comm{9, 120, 1};

// All kernels in bf16.
inline CostFile toy_file(std::string gpu = "h100-sxm", std::string framework = "vllm") {
  CostFile file;
  file.id = gpu + "." + framework + "-toy";
  file.gpu = std::move(gpu), file.framework = std::move(framework), file.version = "toy";
  file.operators = {
      toy_fit("gemm", toy_gemm),
      toy_fit("decode_attn", toy_decode, "bf16", "bf16"),
      toy_fit("prefill_attn", toy_prefill, "bf16", "bf16"),
      toy_fit("moe", toy_moe),
      toy_fit("mla", toy_mla_decode, "bf16", "bf16", "decode"),
      toy_fit("mla", toy_mla_prefill, "bf16", "bf16", "prefill"),
      toy_fit("mla_bmm", toy_bmm, "bf16", "", "mla_gen_pre"),
      toy_fit("mla_bmm", toy_bmm, "bf16", "", "mla_gen_post"),
      toy_fit("comm", toy_comm, "bf16", "", "all_reduce", framework == "trtllm" ? "" : "graph")};
  return file;
}

// Four layers, 1,024 wide, eight heads over two KV heads of 128, MLP of 2,048, 8,000 words.
inline spec::ModelSpec tiny_model() {
  spec::ModelSpec m;
  m.id = "tiny", m.hidden_size = 1024, m.num_layers = 4, m.vocab_size = 8000;
  m.intermediate_size = 2048;
  spec::LayerGroup g;
  g.name = "all", g.num_heads = 8, g.num_kv_heads = 2, g.head_dim = 128;
  m.layer_groups = {g};
  m.layer_pattern = {"all"};
  m.max_position_embeddings = 100'000;
  Diagnostics diagnostics;
  spec::finalize(m, "tiny", diagnostics);
  diagnostics.throw_if_errors();
  return m;
}

// bfloat16 cache, graphs up to 512 tokens.
inline FittedOptions toy_options(int tensor_parallel = 1, int data_parallel = 1) {
  FittedOptions o;
  o.deployment.plan.tensor_parallel_size = tensor_parallel;
  o.deployment.plan.data_parallel_size = data_parallel;
  o.deployment.kv_dtype = *kvformat::find_kv_dtype("bfloat16");
  o.deployment.cuda_graph_tokens = 512;
  return o;
}

}  // namespace kvsim::cost::testing
