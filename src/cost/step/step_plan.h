#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cost/step/fitted_step.h"

// The operators that a step of one deployment consists of, and the fit that each one takes.
namespace kvsim::cost::step {

// What an operator without a fit costs: floor + bytes / bandwidth or flops / rate.
struct Plain {
  double floor_us = 0, token_bytes = 0, fixed_bytes = 0, token_flops = 0;
  double bandwidth = 1, rate = 1;  // GB/s, TFLOP/s
  double us(double tokens) const;
};

// An operator whose time depends on the tokens of the step alone.
struct TokenOperator {
  std::string name;
  std::int64_t layers = 0, calls = 1;
  std::optional<std::size_t> fit;    // in Plan::fits; absent: plain
  std::optional<std::size_t> rival;  // another kernel that the engine picks where it is faster
  double rival_tokens = 0;           // up to this many tokens
  Shape shape;                       // of one token; `tokens` scales it
  Plain plain;
  double ranks_tokens = 1;  // tokens of the exchanging group per token of this rank
  bool overlapped = false;  // runs beside the routed experts in small steps
  double extra_us = 0;      // per call
  Binds link = Binds::memory_bandwidth;
};

struct AttentionOperator {
  std::string name;
  std::size_t group = 0;
  std::int64_t layers = 0;
  bool mla = false;
  Shape decode, prefill;  // of one request; batch, lengths and pairs are the step's
  std::size_t decode_fit = 0, prefill_fit = 0;
  // MLA: products around the absorbed core, and the latent's up-projection in prefill.
  std::optional<std::size_t> pre_fit, post_fit, up_fit;
  Shape pre, post, up;
  // Sparse selection.
  std::int64_t index_layers = 0;
  Plain index;  // per token of the whole context
  double index_pair_flops = 0;
};

struct RecurrentOperator {
  std::string name;
  std::int64_t layers = 0;
  double state_bytes = 0, token_flops = 0;
};

struct Plan {
  std::vector<ChosenOperator> fits;
  std::vector<TokenOperator> tokens;
  std::vector<AttentionOperator> attention;
  std::vector<RecurrentOperator> recurrent;
  TokenOperator head;  // per sampled row
  Plain sampling;
  std::optional<TokenOperator> gather;  // of the logits
  std::int64_t stages = 1;
  Plain send;            // between stages
  double launch_us = 0;  // of one kernel outside a graph, on the host
  Device device;
};

// Empty when the library lacks a fit for the products or the attention.
std::optional<Plan> plan_step(const spec::ModelSpec& model, const spec::GpuSpec& gpu,
                              const FittedOptions& options, const CostLibrary& library);

}  // namespace kvsim::cost::step
