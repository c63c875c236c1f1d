#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/attention/paged_kv.h"
#include "kernels/host/array.h"

// K/V pools with page tables for tests and timing: shuffled pages, ragged lengths, shared prefixes,
// and contents that can be recomputed on the host without a download.
namespace kvsim::kernels {

struct KvShape {
  std::vector<int> lens;  // tokens of each sequence; 0 is allowed
  int kv_heads = 1, head_dim = 128;
  int page_tokens = 16;  // a power of two; 0: contiguous
  // The first so many tokens of every sequence that has them lie in the same physical pages. A
  // multiple of the page size.
  int shared_tokens = 0;
  float key_scale = 1, value_scale = 1;  // standard deviations; keys of 0 make all scores equal
};

// The seed of tensor number `tensor` of a problem.
std::uint64_t tensor_seed(std::uint64_t seed, int set, int tensor);

// `count` values scale * noise_normal(seed, index), rounded to bf16.
std::vector<Bf16> noise_bf16(std::uint64_t seed, std::int64_t count, float scale = 1);
// Fills an array with the same values.
void fill_noise(Device& device, Array<Bf16>& array, std::uint64_t seed, float scale = 1);

class KvCache {
 public:
  explicit KvCache(KvShape shape);

  const KvShape& shape() const { return shape_; }
  int sequences() const { return static_cast<int>(shape_.lens.size()); }
  int max_len() const { return max_len_; }
  int log_page() const { return log_page_of(shape_.page_tokens); }
  double pool_bytes() const;  // of both pools of one set

  // Bytes that attention of every sequence to its last `window` tokens (0: all) must read: keys and
  // values (those in shared pages once), and table entries with the lengths.
  double kv_bytes(int window = 0) const;
  double table_bytes(int window = 0) const;

  // Small pools are written from the host, with NaN in every slot that holds no token and -1 in
  // every unused entry of the table; large ones are filled with noise where they lie.
  void prepare(Device& device, int sets, std::uint64_t seed);
  PagedKv view(int set) const;

  // Rows of (sequence, kv head) of set 0 as [token][head_dim], tokens first ... len - 1.
  std::vector<float> keys(int sequence, int kv_head, int first = 0) const;
  std::vector<float> values(int sequence, int kv_head, int first = 0) const;

 private:
  enum class Pool { keys, values };
  struct Set {
    Array<Bf16> keys, values;
    Array<std::int32_t> table, lens;
  };
  void assign_pages(std::uint64_t seed);
  std::int64_t pool_elements() const;
  int physical_page(int sequence, int token) const;
  std::int64_t row(int sequence, int kv_head, int token) const;
  void fill(Device& device, Array<Bf16>& array, Pool pool, int set) const;
  std::vector<float> rows(Pool pool, int sequence, int kv_head, int first) const;
  float element(Pool pool, int set, std::int64_t index) const;

  KvShape shape_;
  int max_len_ = 0, page_ = 1, max_pages_ = 1, physical_pages_ = 0;
  std::uint64_t seed_ = 0;
  std::vector<std::int32_t> table_;  // of the set assigned last; all sets have the same
  std::vector<Set> sets_;
};

}  // namespace kvsim::kernels
