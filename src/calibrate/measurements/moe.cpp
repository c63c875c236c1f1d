#include "calibrate/measurements/kinds.h"

namespace kvsim::calibrate {
namespace {
constexpr std::string_view columns[] = {
    "gpu",   "framework", "version",   "backend", "dtype",  "tokens",       "hidden",
    "inter", "topk",      "n_experts", "moe_tp",  "moe_ep", "distribution", "latency_us"};
constexpr std::string_view exchange[] = {"gpu",       "framework", "version",   "op",
                                         "nodes",     "tokens",    "hidden",    "topk",
                                         "n_experts", "sms",       "latency_us"};
}  // namespace
const std::span<const std::string_view> moe_columns = columns, moe_a2a_columns = exchange;

Measurement read_moe(const Row& row) {
  Measurement m = kernel_row(row, "moe");
  m.backend = row.text("backend"), m.dtype = row.word("dtype");
  m.shape = ExpertMlp{row.count("tokens"), row.count("hidden"),     row.count("inter"),
                      row.count("topk"),   row.count("n_experts"),  row.count("moe_tp"),
                      row.count("moe_ep"), row.word("distribution")};
  return m;
}

Measurement read_moe_a2a(const Row& row) {
  Measurement m = kernel_row(row, "moe_a2a");
  m.regime = row.word("op");
  m.shape = ExpertExchange{row.word("op"),      row.count("nodes"), row.count("tokens"),
                           row.count("hidden"), row.count("topk"),  row.count("n_experts"),
                           row.count("sms", 0)};
  return m;
}

}  // namespace kvsim::calibrate
