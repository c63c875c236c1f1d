#include "calibrate/measurements/kinds.h"

namespace kvsim::calibrate {
namespace {
constexpr std::string_view columns[] = {"gpu", "framework", "version", "backend",   "dtype",
                                        "m",   "n",         "k",       "latency_us"};
}
const std::span<const std::string_view> gemm_columns = columns;

Measurement read_gemm(const Row& row) {
  Measurement m = kernel_row(row, "gemm");
  m.backend = row.text("backend"), m.dtype = row.word("dtype");
  m.shape = Gemm{row.count("m"), row.count("n"), row.count("k")};
  return m;
}

}  // namespace kvsim::calibrate
