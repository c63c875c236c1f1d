#include "kernels/quantized/decode_problem.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "kernels/attention/paged_kv.h"
#include "kernels/attention/reference.h"
#include "kernels/attention/row_check.h"
#include "kernels/host/lengths.h"
#include "kernels/quantized/decode.h"

namespace kvsim::kernels {

int planned_splits(int groups, int max_len, int places) {
  const int most = std::clamp((max_len + 511) / 512, 1, 128);
  const auto filled = [&](int splits) {
    const double blocks = static_cast<double>(groups) * splits;
    return blocks / (std::ceil(blocks / places) * places);
  };
  double best = 0;
  for (int splits = 1; splits <= most; ++splits) best = std::max(best, filled(splits));
  int splits = 1;
  while (filled(splits) < 0.9 * best) ++splits;
  return splits;
}

namespace {

// What splits are planned for where the device does not say: an H200.
constexpr int default_sms = 132;

// What a check may take: tokens whose keys and values are made again on the host.
constexpr std::int64_t checked_tokens = std::int64_t{1} << 18;

constexpr Source queries{1.0F, 0};

struct Set {
  QuantisedPages::Set kv;
  Array<Bf16> q, out;
  Array<float> lse, partials;  // partials: o, m, l
};

// A row of the check is an output row: a query head of a sequence.
class DecodeQuantisedProblem final : public Problem {
 public:
  explicit DecodeQuantisedProblem(const DecodeQuantisedShape& shape)
      : pages_(shape.kv), group_(shape.group), asked_splits_(shape.splits) {
    const QuantisedShape& kv = pages_.shape();
    DecodeQuantisedArgs asked;
    asked.merge.heads_per_group = group_;
    const auto all = cpu::decode_quantised_variants();
    for (std::size_t v = 0; v < all.size(); ++v)
      if (all[v].supports == nullptr || all[v].supports(asked)) offered_.push_back(v);
    info_ = {.kernel = "decode_quantised",
             .q_dtype = "bf16",
             .kv_dtype = std::string(format_name(kv.format)),
             .acc_dtype = "f32",
             .shape = {{"B", pages_.sequences()},
                       {"L", pages_.max_len()},
                       {"Hq", group_ * kv.kv_heads},
                       {"Hkv", kv.kv_heads},
                       {"D", quantised_dim},
                       {"page", kv.page}}};
    if (kv.residual > 0) info_.shape.emplace_back("residual", kv.residual);
    info_.shape.emplace_back("lens", spread_of(kv.lens));
    if (shape.splits > 0) info_.shape.emplace_back("splits", shape.splits);
    if (kv.shared_tokens > 0) info_.shape.emplace_back("shared", kv.shared_tokens);
    if (kv.key_amplitude != 1)
      info_.shape.emplace_back("keys", "keys" + std::to_string(kv.key_amplitude));
    if (kv.value_amplitude != 1)
      info_.shape.emplace_back("values", "values" + std::to_string(kv.value_amplitude));
  }

  const CaseInfo& info() const override { return info_; }
  Floor floor() const override {
    const double rows = static_cast<double>(query_rows());
    double tokens = 0;
    for (const int len : pages_.shape().lens) tokens += len;
    const double scales = scaled() ? 8.0 * pages_.shape().kv_heads : 0;
    return {pages_.unique_kv_bytes() + pages_.unique_table_bytes() +
                rows * (4.0 * quantised_dim + 4.0) + scales,
            4.0 * tokens * group_ * pages_.shape().kv_heads * quantised_dim,
            "2*tokens*Hkv*D*e+4*B*Hq*D+4*B*Hq+4*B*L/page"};
  }
  std::vector<VariantInfo> variants() const override {
    std::vector<VariantInfo> out;
    for (std::size_t i = 0; i < offered_.size(); ++i) {
      const auto& v = cpu::decode_quantised_variants()[offered_[i]];
      out.push_back({.name = v.name,
                     .min_cc = v.min_cc,
                     .baseline = v.baseline,
                     .plan = v.baseline ? "" : "splits=" + std::to_string(splits(i)),
                     .kernels = v.baseline || parts(i) == 1 ? 1 : 2});
    }
    return out;
  }
  double set_bytes() const override { return pages_.pool_bytes(); }

  void prepare(Device& device, int sets, std::uint64_t seed) override {
    device_ = &device, seed_ = seed;
    sms_ = device.facts().sms > 0 ? device.facts().sms : default_sms;
    int most_parts = 1;
    for (std::size_t i = 0; i < offered_.size(); ++i) most_parts = std::max(most_parts, parts(i));
    const auto rows = static_cast<std::size_t>(query_rows());
    for (int s = 0; s < sets; ++s) {
      Set set;
      set.kv = pages_.make(device, seed + static_cast<std::uint64_t>(s));
      set.q = Array<Bf16>(device, rows * quantised_dim);
      set.out = Array<Bf16>(device, rows * quantised_dim);
      set.partials =
          Array<float>(device, rows * static_cast<std::size_t>(most_parts) * (quantised_dim + 2));
      set.lse = Array<float>(device, rows);
      queries.fill(device, set.q, rows * quantised_dim, query_seed());
      sets_.push_back(std::move(set));
    }
  }
  void poison(int set) override {
    Set& s = sets_[static_cast<std::size_t>(set)];
    s.out.fill_bytes(0xff), s.lse.fill_bytes(0xff), s.partials.fill_bytes(0xff);
  }
  void launch(std::size_t variant, int set, Stream stream) override {
    KVSIM_VARIANTS(device_->backend(), decode_quantised_variants)
    [offered_[variant]].launch(args(variant, sets_[static_cast<std::size_t>(set)]), stream);
  }

  // Whole groups, since their rows share keys and values.
  Check check(std::size_t, int max_rows) override {
    RowCheck comparison(5e-3, sets_[0].out.download(), sets_[0].lse.download());
    std::int64_t checked = (max_rows + std::int64_t{group_} - 1) / group_;
    if (max_rows < query_rows())
      checked = std::min(checked,
                         std::max<std::int64_t>(2, checked_tokens / std::max(1, pages_.max_len())));
    checked = std::min<std::int64_t>(checked, groups());
    for (const std::int64_t group : sample_rows(groups(), static_cast<int>(checked), seed_)) {
      const auto sequence = static_cast<int>(group / pages_.shape().kv_heads);
      const auto head = static_cast<int>(group % pages_.shape().kv_heads);
      const auto keys = pages_.rows(KvSide::key, sequence, head, seed_);
      const auto values = pages_.rows(KvSide::value, sequence, head, seed_);
      for (std::int64_t row = group * group_; row < (group + 1) * group_; ++row)
        comparison.add(row, reference(row, sequence, keys, values));
    }
    return comparison.result();
  }

 private:
  int groups() const { return pages_.sequences() * pages_.shape().kv_heads; }
  std::int64_t query_rows() const { return std::int64_t{groups()} * group_; }
  // Splits fill the multiprocessors with the blocks that the variant's registers leave room for.
  int splits(std::size_t variant) const {
    if (asked_splits_ > 0) return asked_splits_;
    const std::string_view name = cpu::decode_quantised_variants()[offered_[variant]].name;
    const int heads = name == "mma_columns8" ? 8 : 16;
    return planned_splits(groups(), pages_.max_len(),
                          sms_ * places_per_sm(pages_.shape().format, heads));
  }
  int parts(std::size_t variant) const {
    return splits(variant) + (pages_.shape().residual > 0 ? 1 : 0);
  }
  bool scaled() const {
    return pages_.shape().format == KvFormat::fp8 || pages_.shape().format == KvFormat::nvfp4;
  }
  std::uint64_t query_seed() const { return seed_ + 1000; }
  static double score_scale() { return 1.0 / std::sqrt(static_cast<double>(quantised_dim)); }

  DecodeQuantisedArgs args(std::size_t variant, const Set& set) const {
    const QuantisedShape& shape = pages_.shape();
    DecodeQuantisedArgs out;
    out.q = set.q.view();
    out.kv = {.keys = set.kv.keys.view(),
              .values = set.kv.values.view(),
              .key_scale = set.kv.scales.view(),
              .value_scale = set.kv.scales.view() + shape.kv_heads,
              .table = set.kv.table.view(),
              .lens = set.kv.lens.view(),
              .quantised = {},
              .key_residual = set.kv.key_residual.view(),
              .value_residual = set.kv.value_residual.view(),
              .max_pages = pages_.max_pages(),
              .log_page = log_page_of(shape.page),
              .kv_heads = shape.kv_heads,
              .residual = shape.residual,
              .format = shape.format};
    if (shape.residual > 0) out.kv.quantised = set.kv.pooled.view();
    const std::int64_t rows = query_rows() * parts(variant);
    out.merge.partials = {set.partials.view(), set.partials.view() + rows * quantised_dim,
                          set.partials.view() + rows * (quantised_dim + 1)};
    out.merge.splits = parts(variant);
    out.merge.groups = groups();
    out.merge.kv_heads = shape.kv_heads;
    out.merge.heads_per_group = group_;
    out.merge.value_dim = quantised_dim;
    out.merge.out = set.out.view();
    out.merge.lse = set.lse.view();
    out.sequences = pages_.sequences();
    out.scale = static_cast<float>(score_scale());
    return out;
  }

  ReferenceRow reference(std::int64_t row, int sequence, const std::vector<float>& keys,
                         const std::vector<float>& values) const {
    std::vector<float> query(quantised_dim);
    for (std::size_t d = 0; d < query.size(); ++d)
      query[d] = queries.value(query_seed(), static_cast<std::uint64_t>(row) * quantised_dim + d);
    const auto at = [](const std::vector<float>& rows, int token) {
      return &rows[static_cast<std::size_t>(token) * quantised_dim];
    };
    return reference_attention({.query = query,
                                .first = 0,
                                .tokens = pages_.shape().lens[static_cast<std::size_t>(sequence)],
                                .value_dim = quantised_dim,
                                .scale = score_scale(),
                                .key = [&](int token) { return at(keys, token); },
                                .value = [&](int token) { return at(values, token); },
                                .visible = {}});
  }

  QuantisedPages pages_;
  int group_, asked_splits_, sms_ = default_sms;
  std::vector<std::size_t> offered_;  // places of the variants in the backend's list
  CaseInfo info_;
  Device* device_ = nullptr;
  std::uint64_t seed_ = 0;
  std::vector<Set> sets_;
};

}  // namespace

std::unique_ptr<Problem> decode_quantised_problem(const DecodeQuantisedShape& shape) {
  return std::make_unique<DecodeQuantisedProblem>(shape);
}

}  // namespace kvsim::kernels
