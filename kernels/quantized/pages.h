#pragma once
#include <cstdint>
#include <vector>

#include "kernels/host/array.h"
#include "kernels/quantized/layout.h"
#include "kernels/quantized/reference.h"
#include "kernels/quantized/source.h"

// Quantised pools with page tables for tests and timing. The pools are made on the device by the
// quantise kernel from bf16 noise, a chunk of pages at a time, so that only codes stay; what lies
// where can be recomputed on the host.
namespace kvsim::kernels {

struct QuantisedShape {
  KvFormat format = KvFormat::fp8;
  std::vector<int> lens;
  int kv_heads = 1, page = 16;
  int shared_tokens = 0;  // the first so many tokens lie in the same pages for all; whole pages
  int residual = 0;       // KIVI: tokens beyond whole runs of so many stay bf16; a multiple of 32
  float key_amplitude = 1, value_amplitude = 1;
};

class QuantisedPages {
 public:
  explicit QuantisedPages(QuantisedShape shape);

  const QuantisedShape& shape() const { return shape_; }
  int sequences() const { return static_cast<int>(shape_.lens.size()); }
  int max_len() const;
  int max_pages() const { return max_pages_; }
  int physical_pages() const { return physical_pages_; }
  int pooled(int sequence) const;  // tokens in the pools
  double unique_kv_bytes() const;  // keys, values and residuals that attention must read
  double unique_table_bytes() const;
  double pool_bytes() const;  // both pools

  // One set's arrays; `keys` and `values` bytes that hold no token are 0xff.
  struct Set {
    Array<std::uint8_t> keys, values;
    Array<std::int32_t> table, lens, pooled;
    Array<Bf16> key_residual, value_residual;
    Array<float> scales;  // keys' heads, then values' heads
  };
  Set make(Device& device, std::uint64_t seed) const;

  // [token][128] of a (sequence, kv head) as attention sees them, of the set made with `seed`.
  std::vector<float> rows(KvSide side, int sequence, int head, std::uint64_t seed) const;

 private:
  Source source(KvSide side) const;
  float scale(KvSide side, int head) const;
  int chunk_pages() const;
  std::vector<int> used_slots() const;  // of each physical page
  void fill_pools(Device& device, Set& set, std::uint64_t seed) const;

  QuantisedShape shape_;
  int max_pages_ = 1, physical_pages_ = 1;
  std::vector<std::int32_t> table_;
};

}  // namespace kvsim::kernels
