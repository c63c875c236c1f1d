#include "calibrate/measurements/kinds.h"

namespace kvsim::calibrate {
namespace {
constexpr std::string_view core[] = {"gpu",         "framework", "version",   "phase", "backend",
                                     "dtype",       "kv_dtype",  "batch",     "q_len", "kv_len",
                                     "n_heads_arg", "tp",        "latency_us"};
constexpr std::string_view module[] = {"gpu",         "framework", "version",   "phase",
                                       "model",       "backend",   "dtype",     "kv_dtype",
                                       "gemm_dtype",  "batch",     "q_len",     "kv_len",
                                       "n_heads_arg", "tp",        "latency_us"};
constexpr std::string_view bmm[] = {"gpu",   "framework", "version", "op",        "backend",
                                    "dtype", "tokens",    "n_heads", "latency_us"};

Measurement read(const Row& row, std::string kernel, std::string gemm_dtype) {
  Measurement m = kernel_row(row, std::move(kernel));
  m.backend = row.text("backend"), m.dtype = row.word("dtype"), m.kv_dtype = row.word("kv_dtype");
  Mla shape;
  shape.decode = row.either("phase", "decode", "prefill");
  m.regime = shape.decode ? "decode" : "prefill";
  shape.batch = row.count("batch"), shape.q_len = row.count("q_len"),
  shape.kv_len = row.count("kv_len");
  shape.n_heads = row.count("n_heads_arg");
  shape.gemm_dtype = std::move(gemm_dtype);
  m.shape = std::move(shape);
  return m;
}
}  // namespace
const std::span<const std::string_view> mla_columns = core, mla_module_columns = module,
                                        mla_bmm_columns = bmm;

Measurement read_mla(const Row& row) { return read(row, "mla", ""); }

Measurement read_mla_module(const Row& row) {
  return read(row, "mla_module", row.word("gemm_dtype"));
}

Measurement read_mla_bmm(const Row& row) {
  Measurement m = kernel_row(row, "mla_bmm");
  m.backend = row.text("backend"), m.dtype = row.word("dtype"), m.regime = row.word("op");
  m.shape = MlaBmm{row.either("op", "mla_gen_pre", "mla_gen_post"), row.count("tokens"),
                   row.count("n_heads")};
  return m;
}

}  // namespace kvsim::calibrate
