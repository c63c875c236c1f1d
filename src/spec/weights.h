#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spec/gpu_spec.h"
#include "spec/model_spec.h"
#include "units/units.h"

// The weight matrices of a model as one GPU of a deployment holds them: what the ledger adds up and
// what the GEMMs of a step multiply by.
namespace kvsim::spec {

enum class WeightKind {
  embedding,
  lm_head,
  attention,
  indexer,
  recurrent,
  dense_mlp,
  experts,
  shared_experts,
  router,
  norms,
  extra,
  vision
};
inline constexpr std::array<std::string_view, 12> weight_kind_names{
    "embedding",      "lm head",        "attention", "indexer", "recurrent", "dense MLP",
    "routed experts", "shared experts", "router",    "norms",   "other",     "vision"};
constexpr std::string_view name(WeightKind k) {
  return weight_kind_names[static_cast<std::size_t>(k)];
}

// y[tokens, out] = x[tokens, in] * W[in, out], on one rank. `copies` matrices of this shape (local
// experts).
struct Matrix {
  std::string_view name;
  WeightKind kind = WeightKind::attention;
  std::int64_t out = 0, in = 0, copies = 1;
  double bits = 16;  // per weight as stored, scales included
  std::int64_t elements() const { return out * in * copies; }
  double bytes() const { return static_cast<double>(elements()) * bits / 8; }
};

// The MLP of a layer.
enum class MlpKind { none, dense, moe };
MlpKind mlp_of(const ModelSpec& model, std::int64_t layer);

// Matrices of one layer of `group` without and with its MLP. Expert matrices: split over
// tensor_parallel_size * data_parallel_size ranks, by expert under expert parallelism, by width
// otherwise.
std::vector<Matrix> attention_matrices(const ModelSpec& model, const LayerGroup& group,
                                       const ParallelPlan& plan);
std::vector<Matrix> mlp_matrices(const ModelSpec& model, const LayerGroup& group, MlpKind kind,
                                 const ParallelPlan& plan);
Matrix embedding_matrix(const ModelSpec& model, const ParallelPlan& plan);
Matrix head_matrix(const ModelSpec& model, const ParallelPlan& plan);

// Ranks that a MoE layer's experts are spread over.
std::int64_t expert_ranks(const ParallelPlan& plan);

// Bits per weight that `kind` is stored in, scales included.
double stored_bits(const ModelSpec& model, WeightKind kind);
// Operand type of the matrix units for that kind: weight-only formats compute in 16 bits.
DType compute_dtype(const ModelSpec& model, WeightKind kind, const GpuSpec& gpu);

// Bytes of the weights on one GPU of a pipeline stage that holds layers [first, last), by kind.
struct WeightBytes {
  std::array<double, weight_kind_names.size()> by_kind{};
  double total() const;
};
WeightBytes weight_bytes(const ModelSpec& model, const ParallelPlan& plan, std::int64_t first,
                         std::int64_t last);

// The layout that an engine's --quantization name stands for: none, fp8, fp8_block, int8, awq,
// gptq, nvfp4, mxfp4, gguf (q4_K_M), bitsandbytes.
std::optional<Quantization> quantization_preset(std::string_view name);
std::vector<std::string> quantization_names();

}  // namespace kvsim::spec
