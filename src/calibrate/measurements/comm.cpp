#include "calibrate/measurements/kinds.h"

namespace kvsim::calibrate {
namespace {
constexpr std::string_view columns[] = {"gpu",   "framework", "version", "op",        "impl",
                                        "dtype", "num_gpus",  "bytes",   "latency_us"};
}
const std::span<const std::string_view> comm_columns = columns;

Measurement read_comm(const Row& row) {
  Measurement m = kernel_row(row, "comm");
  m.backend = row.word("impl"), m.dtype = row.word("dtype"), m.regime = row.word("op");
  m.shape =
      Collective{row.word("op"), row.word("impl"), row.count("num_gpus", 2), row.count("bytes")};
  return m;
}

}  // namespace kvsim::calibrate
