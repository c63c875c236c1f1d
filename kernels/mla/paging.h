#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/host/array.h"
#include "kernels/mla/mla.h"
#include "kernels/mla/reference.h"

namespace kvsim::kernels {

// How a batch's pages are dealt out. `shared_prefix`: all sequences have the same first page.
enum class Pages { shuffled, shared_prefix };

// Where each token of a batch lies; known to the host, so that references need no download.
class LatentPages {
 public:
  LatentPages(std::vector<std::int32_t> lens, int page_tokens, Pages kind);

  const std::vector<std::int32_t>& lens() const { return lens_; }
  std::int64_t cache_rows() const { return static_cast<std::int64_t>(pages_) * page_tokens_; }
  std::int64_t distinct_tokens() const { return distinct_tokens_; }
  std::int64_t table_entries() const { return table_entries_; }  // that a kernel must read
  std::int64_t cache_row(std::size_t sequence, int token) const;

  double bytes() const;  // of the pool and the table

  // One copy in a device's memory, noise of standard deviation 1 by its index in the pool. Small
  // pools have NaN in every row without a token; large ones are filled where they lie.
  struct Copy {
    Array<Bf16> rows;
    Array<std::int32_t> table, lens;
  };
  Copy make(Device& device, std::uint64_t seed) const;
  LatentCache view(const Copy& copy) const;
  // A sequence's rows, recomputed.
  LatentRows rows_of(std::size_t sequence, int tokens, std::uint64_t seed) const;

 private:
  std::vector<std::int32_t> lens_, table_;
  int page_tokens_, log2_page_ = 0, max_pages_ = 1;
  std::int32_t pages_ = 0;
  std::int64_t distinct_tokens_ = 0, table_entries_ = 0;
};

// Elements `first` on of a tensor that fill_bf16 or noise_bf16 made.
std::vector<double> noise_doubles(std::uint64_t seed, std::int64_t first, std::size_t count,
                                  float scale);

}  // namespace kvsim::kernels
