#include "calibrate/measurements/kinds.h"

namespace kvsim::calibrate {
namespace {
constexpr std::string_view quantise[] = {"gpu",   "framework", "version", "op",        "backend",
                                         "dtype", "m",         "k",       "latency_us"};
constexpr std::string_view layer[] = {"gpu",        "model",      "op",        "tokens",
                                      "tp",         "n_head",     "n_kv_head", "hidden",
                                      "ffn_hidden", "vocab_size", "latency_us"};
}  // namespace
const std::span<const std::string_view> memops_columns = quantise, vidur_columns = layer;

Measurement read_memops(const Row& row) {
  Measurement m = kernel_row(row, "memops");
  m.backend = row.text("backend"), m.dtype = row.word("dtype"), m.regime = row.word("op");
  m.shape = MemoryOp{row.word("op"), row.count("m"), row.count("k")};
  return m;
}

// Kernel medians of vidur's profiler runs, all in fp16.
Measurement read_vidur(const Row& row) {
  Measurement m;
  m.gpu = row.word("gpu"), m.framework = "vidur", m.dtype = "fp16", m.regime = row.word("op");
  m.figures = {{"vidur_layer_ops", row.micro_seconds("latency_us")}};
  row.count("vocab_size");
  m.shape = LayerOp{row.word("op"),         row.count("tokens"),    row.count("tp"),
                    row.count("n_head"),    row.count("n_kv_head"), row.count("hidden"),
                    row.count("ffn_hidden")};
  return m;
}

}  // namespace kvsim::calibrate
