#include <algorithm>
#include <numeric>
#include <set>

#include "kernels/attention/kv_cache.h"
#include "kernels/fill/fill.h"
#include "kernels/h2o/family.h"
#include "kernels/h2o/h2o.h"
#include "kernels/h2o/select.h"
#include "kernels/host/compare.h"
#include "kernels/host/lengths.h"
#include "kernels/host/shuffled.h"
#include "kernels/numbers/noise.h"

namespace kvsim::kernels {
namespace {

// Pools up to this size are searched for rows that should not have been written.
constexpr std::size_t searched_elements = std::size_t{1} << 22;

// A row is one (sequence, kv head): all its kept rows and their account.
class CompactProblem final : public Problem {
 public:
  explicit CompactProblem(const CompactShape& shape)
      : shape_(shape),
        cache_({.lens = shape.lens,
                .kv_heads = shape.kv_heads,
                .head_dim = shape.head_dim,
                .page_tokens = shape.page_tokens}) {
    for (const int len : shape.lens)
      kept_lens_.push_back(std::min(len, shape.heavy + shape.recent));
    max_kept_ = kept_lens_.empty() ? 0 : *std::ranges::max_element(kept_lens_);
    max_pages_ = std::max(1, (max_kept_ + shape.page_tokens - 1) / shape.page_tokens);
    choose_rows(1);
    info_ = {.kernel = "h2o_compact",
             .q_dtype = "",
             .kv_dtype = "bf16",
             .acc_dtype = "",
             .shape = {{"B", std::int64_t{cache_.sequences()}},
                       {"L", std::int64_t{cache_.max_len()}},
                       {"Hkv", std::int64_t{shape.kv_heads}},
                       {"D", std::int64_t{shape.head_dim}},
                       {"page", std::int64_t{shape.page_tokens}},
                       {"heavy", std::int64_t{shape.heavy}},
                       {"recent", std::int64_t{shape.recent}},
                       {"lens", spread_of(shape.lens)}}};
  }

  const CaseInfo& info() const override { return info_; }
  Floor floor() const override {
    const double rows = kept_rows();
    double entries = 0;
    for (std::size_t b = 0; b < kept_lens_.size(); ++b) {
      entries += (kept_lens_[b] + shape_.page_tokens - 1) / shape_.page_tokens + 1;
      std::set<int> pages;
      for (int h = 0; h < shape_.kv_heads; ++h)
        for (const std::int32_t t : kept(static_cast<int>(b), h))
          pages.insert(t / shape_.page_tokens);
      entries += static_cast<double>(pages.size());
    }
    return {rows * (8.0 * shape_.head_dim + 12) + 4 * entries, 0,
            "8*kept*D + 12*kept + tables (kept: rows of all kv heads)"};
  }
  std::vector<VariantInfo> variants() const override {
    std::vector<VariantInfo> out;
    for (const auto& v : cpu::compact_variants())
      out.push_back({.name = v.name, .min_cc = v.min_cc, .baseline = v.baseline});
    return out;
  }
  double set_bytes() const override {
    return cache_.pool_bytes() + 4.0 * static_cast<double>(new_elements()) +
           4.0 * static_cast<double>(groups()) * (cache_.max_len() + 2.0 * max_kept_);
  }

  void prepare(Device& device, int sets, std::uint64_t seed) override {
    device_ = &device;
    seed_ = seed;
    choose_rows(seed);
    cache_.prepare(device, sets, seed);
    for (int s = 0; s < sets; ++s) {
      const auto account = groups() * static_cast<std::size_t>(cache_.max_len());
      sets_.push_back({{device, new_elements()},
                       {device, new_elements()},
                       {device, account},
                       {device, kept_.size()},
                       {device, std::span<const std::int32_t>(table_)},
                       {device, std::span<const std::int32_t>(kept_)},
                       {device, std::span<const std::int32_t>(kept_lens_)}});
      fill_f32(device, sets_.back().accumulated, account_seed(), 1.0F);
    }
  }
  void poison(int set) override {
    Set& s = sets_[static_cast<std::size_t>(set)];
    s.keys.fill_bytes(0xff), s.values.fill_bytes(0xff);
    s.new_accumulated.fill_bytes(0xff);
  }
  void launch(std::size_t variant, int set, Stream stream) override {
    const Set& s = sets_[static_cast<std::size_t>(set)];
    CompactArgs args;
    args.from = cache_.view(set);
    args.keys = s.keys.view(), args.values = s.values.view();
    args.table = s.table.view(), args.kept = s.kept.view(), args.kept_lens = s.kept_lens.view();
    args.accumulated = s.accumulated.view(), args.new_accumulated = s.new_accumulated.view();
    args.sequences = cache_.sequences();
    args.max_pages = max_pages_, args.max_kept = max_kept_;
    args.stride = cache_.max_len(), args.log_page = cache_.log_page();
    KVSIM_VARIANTS(device_->backend(), compact_variants)[variant].launch(args, stream);
  }
  Check check(std::size_t, int max_rows) override {
    Comparison comparison(0);
    for (const std::int64_t group :
         sample_rows(static_cast<std::int64_t>(groups()), std::max(1, max_rows / 16), seed_))
      compare_group(static_cast<int>(group), comparison);
    Check out = comparison.result();
    if (new_elements() <= searched_elements) {
      const auto keys = sets_[0].keys.download();
      const auto written = std::ranges::count_if(keys, [](Bf16 x) { return x.bits != 0xffff; });
      if (static_cast<double>(written) != kept_rows() * shape_.head_dim)
        out.note = "rows were written that are not kept";
    }
    return out;
  }

 private:
  struct Set {
    Array<Bf16> keys, values;
    Array<float> accumulated, new_accumulated;
    Array<std::int32_t> table, kept, kept_lens;
  };
  std::size_t groups() const {
    return shape_.lens.size() * static_cast<std::size_t>(shape_.kv_heads);
  }
  std::uint64_t account_seed() const { return tensor_seed(seed_, 0, 5); }
  double kept_rows() const {
    return shape_.kv_heads * std::accumulate(kept_lens_.begin(), kept_lens_.end(), 0.0);
  }
  std::size_t new_elements() const {
    const auto pages = shape_.lens.size() * static_cast<std::size_t>(max_pages_) + 1;
    return pages * static_cast<std::size_t>(shape_.kv_heads * shape_.page_tokens * shape_.head_dim);
  }
  std::size_t kept_at(int sequence, int kv_head) const {
    return static_cast<std::size_t>(sequence * shape_.kv_heads + kv_head) *
           static_cast<std::size_t>(max_kept_);
  }
  std::span<const std::int32_t> kept(int sequence, int kv_head) const {
    return std::span(kept_).subspan(
        kept_at(sequence, kv_head),
        static_cast<std::size_t>(kept_lens_[static_cast<std::size_t>(sequence)]));
  }
  float account(int group, std::int64_t token) const {
    return noise_normal(account_seed(), static_cast<std::uint64_t>(group) *
                                                static_cast<std::uint64_t>(cache_.max_len()) +
                                            static_cast<std::uint64_t>(token));
  }

  void choose_rows(std::uint64_t seed) {
    seed_ = seed;
    kept_.assign(groups() * static_cast<std::size_t>(max_kept_), -1);
    for (int b = 0; b < cache_.sequences(); ++b)
      for (int h = 0; h < shape_.kv_heads; ++h) {
        std::vector<float> accounts;
        for (int t = 0; t < shape_.lens[static_cast<std::size_t>(b)]; ++t)
          accounts.push_back(account(b * shape_.kv_heads + h, t));
        const auto chosen =
            select_heavy(std::span<const float>(accounts), {shape_.heavy, shape_.recent});
        std::ranges::copy(chosen, kept_.begin() + static_cast<std::ptrdiff_t>(kept_at(b, h)));
      }
    // New pages in an order of their own; the last one belongs to nobody.
    table_ = shuffled(static_cast<std::int64_t>(shape_.lens.size()) * max_pages_, seed + 1);
  }

  void compare_group(int group, Comparison& comparison) const {
    const int b = group / shape_.kv_heads, kv_head = group % shape_.kv_heads;
    const auto width = static_cast<std::size_t>(shape_.head_dim);
    const auto keys = cache_.keys(b, kv_head), values = cache_.values(b, kv_head);
    const auto chosen = kept(b, kv_head);
    for (std::size_t j = 0; j < chosen.size(); ++j) {
      const auto page =
          static_cast<std::size_t>(table_[static_cast<std::size_t>(b * max_pages_) +
                                          j / static_cast<std::size_t>(shape_.page_tokens)]);
      const auto slot = j % static_cast<std::size_t>(shape_.page_tokens);
      const std::size_t at =
          ((page * static_cast<std::size_t>(shape_.kv_heads) + static_cast<std::size_t>(kv_head)) *
               static_cast<std::size_t>(shape_.page_tokens) +
           slot) *
          width;
      const auto got_keys = sets_[0].keys.download(at, width);
      const auto got_values = sets_[0].values.download(at, width);
      for (std::size_t i = 0; i < width; ++i) {
        const std::size_t from = static_cast<std::size_t>(chosen[j]) * width + i;
        comparison.add(to_float(got_keys[i]), keys[from]);
        comparison.add(to_float(got_values[i]), values[from]);
      }
      comparison.add(sets_[0].new_accumulated.download(kept_at(b, kv_head) + j, 1)[0],
                     account(group, chosen[j]));
      comparison.end_row();
    }
  }

  CompactShape shape_;
  KvCache cache_;
  int max_kept_ = 0, max_pages_ = 1;
  std::vector<std::int32_t> kept_lens_, kept_, table_;
  CaseInfo info_;
  std::uint64_t seed_ = 0;
  Device* device_ = nullptr;
  std::vector<Set> sets_;
};

}  // namespace

std::unique_ptr<Problem> make_compact(const CompactShape& shape) {
  return std::make_unique<CompactProblem>(shape);
}

}  // namespace kvsim::kernels
