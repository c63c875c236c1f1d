#pragma once

// What the formulas cannot know: the time a launch costs whatever its size, and how much faster the
// L2 cache is. Each figure is one number for all GPUs, taken from the smallest H100 rows of the
// measurements (vLLM 0.24, TensorRT-LLM 1.3.0rc20, SGLang 0.5.14, NCCL 2.29). Everything else is
// the datasheet's.
namespace kvsim::calibrate {

inline constexpr double decode_attention_floor = 11.6e-6;
inline constexpr double prefill_attention_floor = 14e-6;
inline constexpr double mla_floor = 12.5e-6;
inline constexpr double mla_bmm_floor = 6e-6;
inline constexpr double gemm_floor = 2.7e-6;
inline constexpr double quantise_floor = 2.4e-6;  // activation quantisation in front of a product
inline constexpr double expert_mlp_floor =
    28e-6;  // permute, two grouped products, activation, finalize
inline constexpr double elementwise_floor = 2e-6;
inline constexpr double bench_floor = 3e-6;

inline constexpr double graph_reduce_floor = 4.5e-6;  // custom all-reduce inside a CUDA graph
inline constexpr double nccl_floor = 11e-6;
inline constexpr double eager_launch = 18e-6;  // what the same call costs more without a graph
inline constexpr double node_hop = 20e-6;      // crossing to another node
inline constexpr double exchange_low_latency_floor = 9.5e-6;
inline constexpr double exchange_normal_floor = 30e-6;

// Bytes per second and SM through the L2 cache: a quantise kernel on an L40S (142 SMs) moves 75.5
// MB that it holds warm in 12.6 us besides the floor, at 6 TB/s. A GPU whose memory is faster gains
// nothing from its cache.
inline constexpr double l2_rate_per_sm = 42e9;
// Share of the L2 cache that a replayed set can fill: the same kernel is still warm at 75 of 96 MB.
inline constexpr double l2_usable = 0.9;

}  // namespace kvsim::calibrate
