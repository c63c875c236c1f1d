#include "kernels/mla/paging.h"

#include <algorithm>
#include <numeric>

#include "kernels/attention/paged_kv.h"
#include "kernels/fill/fill.h"
#include "kernels/numbers/noise.h"

namespace kvsim::kernels {

constexpr std::int64_t small_pool_rows = 1 << 15;

LatentPages::LatentPages(std::vector<std::int32_t> lens, int page_tokens, Pages kind)
    : lens_(std::move(lens)), page_tokens_(page_tokens) {
  log2_page_ = log_page_of(page_tokens);
  for (const std::int32_t len : lens_) {
    max_pages_ = std::max(max_pages_, (len + page_tokens - 1) / page_tokens);
    table_entries_ += (len + page_tokens - 1) / page_tokens;
    distinct_tokens_ += len;
  }
  table_.assign(lens_.size() * static_cast<std::size_t>(max_pages_), -1);
  // One page more than needed, so that an order by chance is no identity.
  pages_ = static_cast<std::int32_t>(table_entries_) + 1;
  std::vector<std::int32_t> order(static_cast<std::size_t>(pages_));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size() - 1; i > 0; --i)
    std::swap(order[i], order[noise_bits(11, i) % (i + 1)]);
  std::size_t next = 0;
  std::int32_t shared = 0;  // tokens of the shared page that somebody has
  for (std::size_t b = 0; b < lens_.size(); ++b) {
    for (int p = 0; p * page_tokens < lens_[b]; ++p)
      table_[b * static_cast<std::size_t>(max_pages_) + static_cast<std::size_t>(p)] =
          order[next++];
    if (kind == Pages::shared_prefix && lens_[b] > 0) {
      table_[b * static_cast<std::size_t>(max_pages_)] = order.back();
      const std::int32_t mine = std::min(page_tokens, lens_[b]);
      distinct_tokens_ -= std::min(mine, shared);
      shared = std::max(shared, mine);
    }
  }
}

std::int64_t LatentPages::cache_row(std::size_t sequence, int token) const {
  const auto entry = sequence * static_cast<std::size_t>(max_pages_) +
                     static_cast<std::size_t>(token / page_tokens_);
  return static_cast<std::int64_t>(table_[entry]) * page_tokens_ + token % page_tokens_;
}

LatentPages::Copy LatentPages::make(Device& device, std::uint64_t seed) const {
  Copy copy;
  if (cache_rows() <= small_pool_rows) {
    std::vector<Bf16> rows(static_cast<std::size_t>(cache_rows() * mla_row), Bf16{0xffff});
    for (std::size_t b = 0; b < lens_.size(); ++b)
      for (int token = 0; token < lens_[b]; ++token) {
        const auto at = static_cast<std::size_t>(cache_row(b, token) * mla_row);
        for (std::size_t i = 0; i < mla_row; ++i)
          rows[at + i] = to_bf16(noise_normal(seed, at + i));
      }
    copy.rows = Array<Bf16>(device, std::span<const Bf16>(rows));
  } else {
    copy.rows = Array<Bf16>(device, static_cast<std::size_t>(cache_rows() * mla_row));
    fill_bf16(device, copy.rows, seed, 1);
  }
  copy.table = Array<std::int32_t>(device, std::span<const std::int32_t>(table_));
  copy.lens = Array<std::int32_t>(device, std::span<const std::int32_t>(lens_));
  return copy;
}

LatentCache LatentPages::view(const Copy& copy) const {
  return {.rows = copy.rows.view(),
          .table = copy.table.view(),
          .lens = copy.lens.view(),
          .max_pages = max_pages_,
          .log2_page = log2_page_};
}

double LatentPages::bytes() const {
  return 2.0 * mla_row * static_cast<double>(cache_rows()) +
         4.0 * static_cast<double>(table_.size());
}

LatentRows LatentPages::rows_of(std::size_t sequence, int tokens, std::uint64_t seed) const {
  LatentRows out(static_cast<std::size_t>(std::max(tokens, 0)));
  for (std::size_t j = 0; j < out.size(); ++j)
    out[j] = noise_doubles(seed, cache_row(sequence, static_cast<int>(j)) * mla_row, mla_row, 1);
  return out;
}

std::vector<double> noise_doubles(std::uint64_t seed, std::int64_t first, std::size_t count,
                                  float scale) {
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i)
    out[i] = to_float(to_bf16(noise_normal(seed, static_cast<std::uint64_t>(first) + i) * scale));
  return out;
}

}  // namespace kvsim::kernels
