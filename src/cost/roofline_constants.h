#pragma once

// The calibration of the datasheet roofline. Peaks come from the GPU's datasheet; these are the
// only other numbers in it.
namespace kvsim::cost::roofline {

// Share of the peak memory bandwidth that a kernel reaches, and the constant each memory-bound
// kernel costs besides (published calibration of ai-dynamo/aiconfigurator, systems/*.yaml).
inline constexpr double bandwidth_share = 0.80;
inline constexpr double kernel_floor_s = 3e-6;

// Share of the dense matrix peak: GEMM fit over the H100 bf16 rows of the kernel measurements, 802
// of 989.4 TFLOP/s; FlashAttention prefill tiles on the same part, 588 of 989.4.
inline constexpr double gemm_share = 802.0 / 989.4;
inline constexpr double attention_share = 588.0 / 989.4;

// One small message between two GPUs where the link's file does not say: switched all-reduces on
// NVLink take 4.4 to 5.0 us for 256 bytes (A100, H100, B200 tables), a launch and two such hops.
inline constexpr double link_latency_s = 1e-6;

// Where nine true step times in ten lie, as logarithms of measured over predicted: 0.9 to 2.25. Of
// 1,724 published serving results (TPOT, and throughput inverted) 5 % lie below 1.00, 5 %
// above 2.23 (docs/explanation/validation.md); rounded outwards, as kernels are missed in both
// directions.
inline constexpr double spread_below = 0.105360515657826;  // -ln 0.9
inline constexpr double spread_above = 0.810930216216329;  // ln 2.25

}  // namespace kvsim::cost::roofline
