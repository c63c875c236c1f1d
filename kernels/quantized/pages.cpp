#include "kernels/quantized/pages.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "kernels/numbers/noise.h"
#include "kernels/quantized/quantise.h"

namespace kvsim::kernels {
namespace {

// bf16 bytes of one pool that are on the device at a time.
constexpr std::int64_t chunk_bytes = std::int64_t{1} << 28;

// Seeds of the tensors of a set: chunks of the pools (even keys, odd values), then the residuals.
std::uint64_t tensor_of(std::uint64_t seed, KvSide side, std::uint64_t index) {
  return noise_bits(seed, 2 * index + (side == KvSide::key ? 0 : 1));
}
constexpr std::uint64_t residual_tensor = std::uint64_t{1} << 40;

constexpr KvSide sides[] = {KvSide::key, KvSide::value};

}  // namespace

QuantisedPages::QuantisedPages(QuantisedShape shape) : shape_(std::move(shape)) {
  const int page = shape_.page;
  if ((page & (page - 1)) != 0 || page < (shape_.format == KvFormat::kivi2 ? kivi_group : 16))
    throw std::invalid_argument("a page is a power of two of whole groups");
  max_pages_ = std::max(1, (max_len() + page - 1) / page);
  table_.assign(shape_.lens.size() * static_cast<std::size_t>(max_pages_), -1);
  const int shared = shape_.shared_tokens / page;
  int next = shared;
  for (int b = 0; b < sequences(); ++b)
    for (int p = 0; p < (pooled(b) + page - 1) / page; ++p)
      table_[static_cast<std::size_t>(b * max_pages_ + p)] = p < shared ? p : next++;
  physical_pages_ = next + 1;  // one belongs to nobody
  std::vector<std::int32_t> places(static_cast<std::size_t>(physical_pages_));
  std::iota(places.begin(), places.end(), 0);
  for (std::size_t i = places.size() - 1; i > 0; --i)
    std::swap(places[i], places[noise_bits(5, i) % (i + 1)]);
  for (auto& entry : table_)
    if (entry >= 0) entry = places[static_cast<std::size_t>(entry)];
}

int QuantisedPages::max_len() const {
  return shape_.lens.empty() ? 0 : *std::max_element(shape_.lens.begin(), shape_.lens.end());
}

int QuantisedPages::pooled(int sequence) const {
  const int len = shape_.lens[static_cast<std::size_t>(sequence)];
  return shape_.residual > 0 ? len / shape_.residual * shape_.residual : len;
}

double QuantisedPages::unique_kv_bytes() const {
  const std::vector<int> used = used_slots();
  const double slots = std::accumulate(used.begin(), used.end(), 0.0);
  double unquantised = 0;
  for (int b = 0; b < sequences(); ++b)
    unquantised += shape_.lens[static_cast<std::size_t>(b)] - pooled(b);
  return 2.0 * shape_.kv_heads *
         (slots * block_bytes(shape_.format, 1) + unquantised * 2 * quantised_dim);
}

double QuantisedPages::unique_table_bytes() const {
  const auto entries = std::count_if(table_.begin(), table_.end(), [](int p) { return p >= 0; });
  return 4.0 * static_cast<double>(entries) + 4.0 * sequences() * (shape_.residual > 0 ? 2 : 1);
}

double QuantisedPages::pool_bytes() const {
  return 2.0 * physical_pages_ * shape_.kv_heads * block_bytes(shape_.format, shape_.page);
}

Source QuantisedPages::source(KvSide side) const {
  return {side == KvSide::key ? shape_.key_amplitude : shape_.value_amplitude, 0};
}

float QuantisedPages::scale(KvSide side, int head) const {
  const float amplitude = source(side).amplitude;
  const float step = shape_.format == KvFormat::fp8 ? 0.0125F : 0.0022F;
  return step * (1.0F + 0.1F * static_cast<float>(head)) * (amplitude > 0 ? amplitude : 1.0F);
}

int QuantisedPages::chunk_pages() const {
  const std::int64_t page_bytes = std::int64_t{2} * quantised_dim * shape_.kv_heads * shape_.page;
  return static_cast<int>(std::clamp<std::int64_t>(chunk_bytes / page_bytes, 1, physical_pages_));
}

std::vector<int> QuantisedPages::used_slots() const {
  std::vector<int> out(static_cast<std::size_t>(physical_pages_), 0);
  for (int b = 0; b < sequences(); ++b)
    for (int p = 0; p * shape_.page < pooled(b); ++p) {
      const auto at =
          static_cast<std::size_t>(table_[static_cast<std::size_t>(b * max_pages_ + p)]);
      out[at] = std::max(out[at], std::min(shape_.page, pooled(b) - p * shape_.page));
    }
  return out;
}

void QuantisedPages::fill_pools(Device& device, Set& set, std::uint64_t seed) const {
  const int chunk = chunk_pages();
  const std::vector<int> used = used_slots();
  const auto elements = static_cast<std::size_t>(chunk) *
                        static_cast<std::size_t>(shape_.kv_heads) *
                        static_cast<std::size_t>(shape_.page) * quantised_dim;
  Array<Bf16> keys(device, elements), values(device, elements);
  for (int first = 0; first < physical_pages_; first += chunk) {
    const int count = std::min(chunk, physical_pages_ - first);
    const auto index = static_cast<std::uint64_t>(first / chunk);
    source(KvSide::key).fill(device, keys, elements, tensor_of(seed, KvSide::key, index));
    source(KvSide::value).fill(device, values, elements, tensor_of(seed, KvSide::value, index));
    std::vector<PageJob> jobs;
    for (int i = 0; i < count; ++i)
      jobs.push_back({i, first + i, 0, used[static_cast<std::size_t>(first + i)]});
    const Array<PageJob> on_device(device, jobs);
    const QuantiseArgs args{.k = keys.view(),
                            .v = values.view(),
                            .k_out = set.keys.view(),
                            .v_out = set.values.view(),
                            .jobs = on_device.view(),
                            .k_scale = set.scales.view(),
                            .v_scale = set.scales.view() + shape_.kv_heads,
                            .job_count = count,
                            .kv_heads = shape_.kv_heads,
                            .page = shape_.page,
                            .format = shape_.format};
    KVSIM_VARIANTS(device.backend(), quantise_variants).back().launch(args, device.stream());
    device.synchronize();
  }
}

QuantisedPages::Set QuantisedPages::make(Device& device, std::uint64_t seed) const {
  Set set;
  std::vector<float> scales;
  for (const KvSide side : sides)
    for (int h = 0; h < shape_.kv_heads; ++h) scales.push_back(scale(side, h));
  std::vector<std::int32_t> pooled_tokens;
  for (int b = 0; b < sequences(); ++b) pooled_tokens.push_back(pooled(b));
  const auto bytes = static_cast<std::size_t>(pool_bytes() / 2);
  set.keys = Array<std::uint8_t>(device, bytes), set.values = Array<std::uint8_t>(device, bytes);
  set.keys.fill_bytes(0xff), set.values.fill_bytes(0xff);
  set.scales = Array<float>(device, scales);
  set.table = Array<std::int32_t>(device, table_);
  set.lens = Array<std::int32_t>(device, shape_.lens);
  set.pooled = Array<std::int32_t>(device, pooled_tokens);
  const auto residual = static_cast<std::size_t>(sequences()) *
                        static_cast<std::size_t>(shape_.kv_heads) *
                        static_cast<std::size_t>(shape_.residual) * quantised_dim;
  set.key_residual = Array<Bf16>(device, residual),
  set.value_residual = Array<Bf16>(device, residual);
  if (residual > 0) {
    source(KvSide::key)
        .fill(device, set.key_residual, residual, tensor_of(seed, KvSide::key, residual_tensor));
    source(KvSide::value)
        .fill(device, set.value_residual, residual,
              tensor_of(seed, KvSide::value, residual_tensor));
  }
  fill_pools(device, set, seed);
  return set;
}

std::vector<float> QuantisedPages::rows(KvSide side, int sequence, int head,
                                        std::uint64_t seed) const {
  const Source from = source(side);
  const auto page_elements = static_cast<std::uint64_t>(shape_.page) * quantised_dim;
  const BlockShape block_shape{
      .format = shape_.format, .side = side, .page = shape_.page, .scale = scale(side, head)};
  std::vector<float> out, values(page_elements);
  std::vector<std::uint8_t> block(
      static_cast<std::size_t>(block_bytes(shape_.format, shape_.page)));
  for (int first = 0; first < pooled(sequence); first += shape_.page) {
    const int physical =
        table_[static_cast<std::size_t>(sequence * max_pages_ + first / shape_.page)];
    const int tokens = std::min(shape_.page, pooled(sequence) - first);
    const auto in_chunk = static_cast<std::uint64_t>(physical % chunk_pages());
    const std::uint64_t tensor =
        tensor_of(seed, side, static_cast<std::uint64_t>(physical / chunk_pages()));
    const std::uint64_t at = (in_chunk * static_cast<std::uint64_t>(shape_.kv_heads) +
                              static_cast<std::uint64_t>(head)) *
                             page_elements;
    const auto used = static_cast<std::size_t>(tokens) * quantised_dim;
    for (std::size_t i = 0; i < used; ++i) values[i] = from.value(tensor, at + i);
    quantise_block(block_shape, values, 0, tokens, block);
    for (const double x : dequantise_block(block_shape, block, tokens))
      out.push_back(static_cast<float>(x));
  }
  const int rest = shape_.lens[static_cast<std::size_t>(sequence)] - pooled(sequence);
  const std::uint64_t at = static_cast<std::uint64_t>(sequence * shape_.kv_heads + head) *
                           static_cast<std::uint64_t>(shape_.residual) * quantised_dim;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(rest) * quantised_dim; ++i)
    out.push_back(from.value(tensor_of(seed, side, residual_tensor), at + i));
  return out;
}

}  // namespace kvsim::kernels
