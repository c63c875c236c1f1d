#include "kernels/attention/kv_cache.h"

#include <algorithm>
#include <stdexcept>

#include "kernels/fill/fill.h"
#include "kernels/host/shuffled.h"
#include "kernels/numbers/noise.h"

namespace kvsim::kernels {
namespace {

// Pools up to this size are made on the host, where unused slots can be NaN.
constexpr std::int64_t host_elements = std::int64_t{1} << 24;

}  // namespace

std::uint64_t tensor_seed(std::uint64_t seed, int set, int tensor) {
  return noise_bits(seed,
                    static_cast<std::uint64_t>(set) * 64 + static_cast<std::uint64_t>(tensor));
}

std::vector<Bf16> noise_bf16(std::uint64_t seed, std::int64_t count, float scale) {
  std::vector<Bf16> out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = to_bf16(scale * noise_normal(seed, i));
  return out;
}

void fill_noise(Device& device, Array<Bf16>& array, std::uint64_t seed, float scale) {
  // Under the executor the host is faster than a kernel.
  if (device.backend() == Backend::gpu) return fill_bf16(device, array, seed, scale);
  const auto values = noise_bf16(seed, static_cast<std::int64_t>(array.size()), scale);
  device.upload(array.view().address, values.data(), array.bytes());
}

KvCache::KvCache(KvShape shape) : shape_(std::move(shape)) {
  for (const int len : shape_.lens) max_len_ = std::max(max_len_, len);
  const bool paged = shape_.page_tokens > 0;
  page_ = paged ? shape_.page_tokens : std::max(1, max_len_);
  max_pages_ = std::max(1, (max_len_ + page_ - 1) / page_);
  if (paged && (page_ & (page_ - 1)) != 0)
    throw std::invalid_argument("a page size is a power of two");
  if (shape_.shared_tokens % page_ != 0 || (!paged && shape_.shared_tokens > 0))
    throw std::invalid_argument("shared tokens are whole pages");
  assign_pages(1);
}

void KvCache::assign_pages(std::uint64_t seed) {
  const auto entries = static_cast<std::size_t>(sequences()) * static_cast<std::size_t>(max_pages_);
  table_.assign(entries, -1);
  const int shared = shape_.shared_tokens / page_;
  int next = shared;
  for (int b = 0; b < sequences(); ++b) {
    const int pages = (shape_.lens[static_cast<std::size_t>(b)] + page_ - 1) / page_;
    for (int p = 0; p < pages; ++p)
      table_[static_cast<std::size_t>(b * max_pages_ + p)] = p < shared ? p : next++;
  }
  if (shape_.page_tokens == 0) {
    physical_pages_ = sequences();
    for (int b = 0; b < sequences(); ++b) table_[static_cast<std::size_t>(b)] = b;
    return;
  }
  physical_pages_ = next + 1;  // one page belongs to nobody
  const auto order = shuffled(physical_pages_, seed);
  for (std::int32_t& entry : table_)
    if (entry >= 0) entry = order[static_cast<std::size_t>(entry)];
}

std::int64_t KvCache::pool_elements() const {
  return static_cast<std::int64_t>(physical_pages_) * shape_.kv_heads * page_ * shape_.head_dim;
}

double KvCache::pool_bytes() const { return 4.0 * static_cast<double>(pool_elements()); }

double KvCache::kv_bytes(int window) const {
  double tokens = 0;
  std::vector<bool> shared(static_cast<std::size_t>(shape_.shared_tokens));
  for (const int len : shape_.lens) {
    const int first = first_visible(len, window), end = std::min(len, shape_.shared_tokens);
    tokens += std::max(0, len - std::max(first, shape_.shared_tokens));
    for (int t = first; t < end; ++t) shared[static_cast<std::size_t>(t)] = true;
  }
  tokens += static_cast<double>(std::ranges::count(shared, true));
  return tokens * 4.0 * shape_.kv_heads * shape_.head_dim;
}

double KvCache::table_bytes(int window) const {
  double entries = sequences();
  if (shape_.page_tokens > 0)
    for (const int len : shape_.lens)
      if (len > 0) entries += (len - 1) / page_ - first_visible(len, window) / page_ + 1;
  return 4.0 * entries;
}

void KvCache::prepare(Device& device, int sets, std::uint64_t seed) {
  seed_ = seed;
  assign_pages(seed);
  sets_.clear();
  for (int s = 0; s < sets; ++s) {
    const auto elements = static_cast<std::size_t>(pool_elements());
    Set set{{device, elements}, {device, elements}, {}, {device, shape_.lens}};
    if (shape_.page_tokens > 0) set.table = {device, std::span<const std::int32_t>(table_)};
    fill(device, set.keys, Pool::keys, s);
    fill(device, set.values, Pool::values, s);
    sets_.push_back(std::move(set));
  }
}

PagedKv KvCache::view(int set) const {
  const Set& s = sets_[static_cast<std::size_t>(set)];
  return {.keys = s.keys.view(),
          .values = s.values.view(),
          .table = s.table.view(),
          .lens = s.lens.view(),
          .max_pages = max_pages_,
          .page_tokens = page_,
          .kv_heads = shape_.kv_heads,
          .head_dim = shape_.head_dim};
}

std::vector<float> KvCache::keys(int sequence, int kv_head, int first) const {
  return rows(Pool::keys, sequence, kv_head, first);
}

std::vector<float> KvCache::values(int sequence, int kv_head, int first) const {
  return rows(Pool::values, sequence, kv_head, first);
}

int KvCache::physical_page(int sequence, int token) const {
  return table_[static_cast<std::size_t>(sequence * max_pages_ + token / page_)];
}

std::int64_t KvCache::row(int sequence, int kv_head, int token) const {
  const std::int64_t page = physical_page(sequence, token);
  return ((page * shape_.kv_heads + kv_head) * page_ + token % page_) * shape_.head_dim;
}

float KvCache::element(Pool pool, int set, std::int64_t index) const {
  const bool keys = pool == Pool::keys;
  const float scale = keys ? shape_.key_scale : shape_.value_scale;
  const std::uint64_t seed = tensor_seed(seed_, set, keys ? 1 : 2);
  return to_float(to_bf16(scale * noise_normal(seed, static_cast<std::uint64_t>(index))));
}

void KvCache::fill(Device& device, Array<Bf16>& array, Pool pool, int set) const {
  if (pool_elements() > host_elements) {
    const bool keys = pool == Pool::keys;
    return fill_noise(device, array, tensor_seed(seed_, set, keys ? 1 : 2),
                      keys ? shape_.key_scale : shape_.value_scale);
  }
  std::vector<Bf16> host(array.size(), Bf16{0xffff});
  for (int b = 0; b < sequences(); ++b)
    for (int t = 0; t < shape_.lens[static_cast<std::size_t>(b)]; ++t)
      for (int h = 0; h < shape_.kv_heads; ++h) {
        const std::int64_t at = row(b, h, t);
        for (std::int64_t i = at; i < at + shape_.head_dim; ++i)
          host[static_cast<std::size_t>(i)] = to_bf16(element(pool, set, i));
      }
  device.upload(array.view().address, host.data(), array.bytes());
}

std::vector<float> KvCache::rows(Pool pool, int sequence, int kv_head, int first) const {
  std::vector<float> out;
  const int len = shape_.lens[static_cast<std::size_t>(sequence)];
  out.reserve(static_cast<std::size_t>(std::max(0, len - first)) *
              static_cast<std::size_t>(shape_.head_dim));
  for (int t = first; t < len; ++t) {
    const std::int64_t at = row(sequence, kv_head, t);
    for (std::int64_t i = at; i < at + shape_.head_dim; ++i) out.push_back(element(pool, 0, i));
  }
  return out;
}

}  // namespace kvsim::kernels
