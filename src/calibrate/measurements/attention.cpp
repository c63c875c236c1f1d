#include "calibrate/measurements/kinds.h"

namespace kvsim::calibrate {
namespace {
constexpr std::string_view columns[] = {
    "gpu",   "framework", "version", "backend",    "dtype",    "kv_dtype", "batch",
    "q_len", "kv_len",    "n_heads", "n_kv_heads", "head_dim", "window",   "latency_us"};
}
const std::span<const std::string_view> attention_columns = columns;

// decode_attn and prefill_attn have the same columns: one query token over more than itself is
// decode.
Measurement read_attention(const Row& row) {
  const std::int64_t q_len = row.count("q_len"), kv_len = row.count("kv_len");
  const bool decode = q_len == 1 && kv_len > 1;
  Measurement m = kernel_row(row, decode ? "decode_attn" : "prefill_attn");
  m.backend = row.text("backend"), m.dtype = row.word("dtype"), m.kv_dtype = row.word("kv_dtype");
  const std::int64_t batch = row.count("batch"), heads = row.count("n_heads"),
                     kv_heads = row.count("n_kv_heads");
  const std::int64_t head_dim = row.count("head_dim"), window = row.count("window", 0);
  if (decode)
    m.shape = DecodeAttention{batch, kv_len, heads, kv_heads, head_dim, window};
  else
    m.shape = PrefillAttention{batch, q_len, kv_len, heads, kv_heads, head_dim, window};
  return m;
}

}  // namespace kvsim::calibrate
