#include "kernels/cascade/family.h"
#include "kernels/decode/family.h"
#include "kernels/gemm/family.h"
#include "kernels/h2o/family.h"
#include "kernels/host/problem.h"
#include "kernels/latency/family.h"
#include "kernels/mla/family.h"
#include "kernels/pages/family.h"
#include "kernels/prefill/family.h"
#include "kernels/quantized/family.h"
#include "kernels/stream/family.h"
#include "kernels/tree/family.h"

namespace kvsim::kernels {

std::span<const Family> families() {
  static const Family list[] = {
      {"decode", "attention of one new token over paged K/V", decode_edge_cases, decode_quick_cases,
       decode_bench_cases},
      {"stream", "bandwidth of copies, reads and writes", stream_edge_cases, stream_quick_cases,
       stream_bench_cases},
      {"latency", "dependent loads and empty launches", latency_edge_cases, latency_quick_cases,
       latency_bench_cases},
      {"pages", "pages to and from the host, new rows, prefetch into L2", pages_edge_cases,
       pages_quick_cases, pages_bench_cases},
      {"h2o", "decode that accounts for heavy hitters, and compaction", h2o_edge_cases,
       h2o_quick_cases, h2o_bench_cases},
      {"gemm", "matrix products and the rate of the matrix instruction", gemm_edge_cases,
       gemm_quick_cases, gemm_bench_cases},
      {"quantized", "quantise and pack, decode over quantised keys and values",
       quantized_edge_cases, quantized_quick_cases, quantized_bench_cases},
      {"prefill", "attention of prompts and chunks of them", prefill_edge_cases,
       prefill_quick_cases, prefill_bench_cases},
      {"mla", "decode over a latent cache shared by all heads", mla_edge_cases, mla_quick_cases,
       mla_bench_cases},
      {"tree", "verification of trees of draft tokens", tree_edge_cases, tree_quick_cases,
       tree_bench_cases},
      {"cascade", "decode of sequences that share a prefix", cascade_edge_cases,
       cascade_quick_cases, cascade_bench_cases},
  };
  return list;
}

}  // namespace kvsim::kernels
