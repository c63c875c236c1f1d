#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "cost/step/fitted_step.h"

// What differs between frameworks in how a layer runs (docs/explanation/step-cost.md).
namespace kvsim::cost::step {

struct Rules {
  std::vector<std::string_view> kernels;          // whose measured kernels are taken, in this order
  std::vector<std::string_view> reduce_backends;  // all-reduce implementation, in this order
  std::vector<std::string_view> reduce_kernels;
  std::vector<std::string_view> launch_kernels;  // whose launches are like its own
  // The norm after an all-reduce runs inside it.
  bool fused_reduce_norm = false;
  bool fp8_prefill = false;  // with an fp8 cache, prefill attention computes in fp8
};
Rules rules_of(Framework framework, const spec::GpuSpec& gpu);

// Floors of element-wise kernels, us, and the share of HBM's peak they reach (CUDA graph replays of
// vLLM and TensorRT-LLM layers; the floors of the smallest rows).
inline constexpr double norm_floor_us = 3, rope_floor_us = 4, activation_floor_us = 2.5;
inline constexpr double elementwise_share = 0.75, floor_share = 0.6;
// Batched per-head products of MLA where no measurement covers them.
inline constexpr double bmm_floor_us = 4, bmm_share = 0.7;
// Up to this many tokens a shared expert runs beside the routed ones on a stream of its own.
inline constexpr double shared_expert_tokens = 256;
// Low-latency kernels of nvfp4 experts are picked up to this many tokens.
inline constexpr double low_latency_tokens = 2048;
// Generated kernels of block-scaled experts are taken for decode batches up to this size.
inline constexpr double generated_tokens = 256;
// A real router is skewed like this power law (data set of measured MoE kernels); ranks that share
// work by expert parallelism with attention data parallelism are balanced by the engines.
inline constexpr double router_skew = 1.2;
// All-gather and reduce-scatter around experts under attention data parallelism, as one all-reduce.
inline constexpr double exchange_factor = 1.1, exchange_extra_us = 4;
// A step that is not replayed from a graph takes at least a launch per kernel. Where no eager rows
// say what a launch costs on a GPU's host: the H100's and H200's under vLLM.
inline constexpr double default_launch_us = 16, small_message = 8192;
// vLLM replays prefill layers from graphs up to so many tokens.
inline constexpr std::int64_t piecewise_graph_tokens = 512;
// A form is trusted one doubling beyond the measured shapes (an LM head is twice as wide as the
// widest measured product); farther out a step says that it extrapolates.
inline constexpr double trusted_octaves = 1;
inline constexpr double logits_gather_us = 10, sampling_us = 10;

}  // namespace kvsim::cost::step
