#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "kernels/attention/problem_limits.h"
#include "kernels/attention/row_check.h"
#include "kernels/decode/decode_plan.h"
#include "kernels/numbers/noise.h"
#include "kernels/tree/family.h"
#include "kernels/tree/tree.h"

namespace kvsim::kernels {
namespace {

class TreeProblem final : public Problem {
 public:
  explicit TreeProblem(const TreeShape& shape) : shape_(shape), cache_(shape.kv) {
    if (shape_.scale == 0) shape_.scale = 1.0F / std::sqrt(static_cast<float>(dim()));
    decide(default_sms);
    info_ = {.kernel = "tree",
             .q_dtype = "bf16",
             .kv_dtype = "bf16",
             .shape = {{"B", std::int64_t{cache_.sequences()}},
                       {"L", std::int64_t{cache_.max_len()}},
                       {"T", std::int64_t{shape_.tokens}},
                       {"Hq", std::int64_t{shape_.group * kv_heads()}},
                       {"Hkv", std::int64_t{kv_heads()}},
                       {"D", std::int64_t{dim()}},
                       {"page", std::int64_t{shape_.kv.page_tokens}},
                       {"tree", std::string(name_of(shape_.tree))}}};
    if (shape_.splits > 0) info_.shape.emplace_back("splits", std::int64_t{shape_.splits});
    info_.shape.emplace_back("lens", shape_.lens.empty() ? "uniform" : shape_.lens);
  }

  const CaseInfo& info() const override { return info_; }

  Floor floor() const override {
    const double pairs_per_head = [&] {
      double sum = 0;
      for (int b = 0; b < cache_.sequences(); ++b) {
        sum += static_cast<double>(shape_.kv.lens[static_cast<std::size_t>(b)]) * shape_.tokens;
        for (const std::uint64_t bits : tree_mask(shape_.tree, shape_.tokens, b))
          sum += std::popcount(bits & real_bits());
      }
      return sum;
    }();
    const double draft =
        4.0 * static_cast<double>(draft_elements()) + 8.0 * static_cast<double>(draft_tokens());
    return {cache_.kv_bytes() + cache_.table_bytes() + draft +
                static_cast<double>(rows()) * (4.0 * dim() + 4.0),
            4.0 * dim() * shape_.group * kv_heads() * pairs_per_head,
            "4*D*Hkv*(sum(L) + B*T) + 8*B*T + 4*B*T*Hq*D + 4*B*T*Hq + 4*pages + 4*B"};
  }

  std::vector<VariantInfo> variants() const override {
    std::vector<VariantInfo> out;
    for (const std::size_t i : supported()) {
      const auto& v = cpu::tree_variants()[i];
      out.push_back({.name = v.name,
                     .min_cc = v.min_cc,
                     .baseline = v.baseline,
                     .plan = v.baseline ? "" : "splits=" + std::to_string(splits_),
                     .kernels = v.baseline || splits_ == 1 ? 1 : 2});
    }
    return out;
  }

  double set_bytes() const override {
    return cache_.pool_bytes() + 4.0 * static_cast<double>(draft_elements()) +
           static_cast<double>(rows()) * (4.0 * dim() + 4.0) +
           static_cast<double>(partial_rows()) * 4.0 * (dim() + 2);
  }

  void prepare(Device& device, int sets, std::uint64_t seed) override {
    device_ = &device;
    seed_ = seed;
    decide(sms_of(device));
    cache_.prepare(device, sets, seed);
    std::vector<std::uint64_t> masks;
    for (int b = 0; b < cache_.sequences(); ++b)
      for (const std::uint64_t bits : tree_mask(shape_.tree, shape_.tokens, b))
        masks.push_back(bits);
    masks_ = {device, std::span<const std::uint64_t>(masks)};
    sets_.clear();
    for (int s = 0; s < sets; ++s) {
      const auto elements = static_cast<std::size_t>(rows() * dim());
      const auto partials = static_cast<std::size_t>(partial_rows());
      const auto draft = static_cast<std::size_t>(draft_elements());
      Set set{{device, elements},
              {device, elements},
              {device, draft},
              {device, draft},
              {device, static_cast<std::size_t>(rows())},
              {device, partials * static_cast<std::size_t>(dim())},
              {device, partials},
              {device, partials}};
      fill_noise(device, set.q, tensor_seed(seed, s, 0));
      fill_noise(device, set.keys, tensor_seed(seed, s, 3), shape_.kv.key_scale);
      fill_noise(device, set.values, tensor_seed(seed, s, 4), shape_.kv.value_scale);
      sets_.push_back(std::move(set));
    }
  }

  void poison(int set) override {
    Set& s = sets_[static_cast<std::size_t>(set)];
    s.out.fill_bytes(0xff), s.lse.fill_bytes(0xff);
    s.o.fill_bytes(0xff), s.m.fill_bytes(0xff), s.l.fill_bytes(0xff);
  }

  void launch(std::size_t variant, int set, Stream stream) override {
    KVSIM_VARIANTS(device_->backend(), tree_variants)
    [supported()[variant]].launch(args(set), stream);
  }

  Check check(std::size_t variant, int max_rows) override {
    const bool naive = cpu::tree_variants()[supported()[variant]].baseline;
    RowCheck check(naive ? gate_f32 : gate_bf16_p, sets_[0].out.download(),
                   sets_[0].lse.download());
    const int count = checked_rows(max_rows, cache_.max_len());
    // Rows of one (sequence, kv head) after another.
    for (const std::int64_t row : sample_rows(rows(), count, seed_)) check.add(row, reference(row));
    return check.result();
  }

 private:
  struct Set {
    Array<Bf16> q, out, keys, values;
    Array<float> lse, o, m, l;
  };

  int dim() const { return shape_.kv.head_dim; }
  int kv_heads() const { return shape_.kv.kv_heads; }
  int groups() const { return cache_.sequences() * kv_heads(); }
  std::int64_t draft_tokens() const {
    return static_cast<std::int64_t>(cache_.sequences()) * shape_.tokens;
  }
  std::int64_t draft_elements() const { return draft_tokens() * kv_heads() * dim(); }
  std::int64_t rows() const { return draft_tokens() * kv_heads() * shape_.group; }
  std::int64_t partial_rows() const { return splits_ > 1 ? rows() * splits_ : 0; }
  std::uint64_t real_bits() const {
    return shape_.tokens == 0 ? 0 : ~std::uint64_t{0} >> (64 - shape_.tokens);
  }

  void decide(int sms) {
    const int slots = sms * (dim() == 128 ? 2 : 3);
    const int blocks = groups() * row_blocks(shape_.tokens * shape_.group);
    splits_ = shape_.splits > 0 ? shape_.splits : choose_splits(blocks, cache_.max_len(), slots);
  }

  MultiRowArgs shape_args() const {
    MultiRowArgs a;
    a.log_page = cache_.log_page();
    a.scale = shape_.scale;
    a.sequences = cache_.sequences();
    a.tokens = shape_.tokens;
    a.heads_per_group = shape_.group;
    a.splits = splits_;
    a.merge = merge_of_rows(rows(), splits_, dim());
    return a;
  }

  MultiRowArgs args(int set) const {
    const Set& s = sets_[static_cast<std::size_t>(set)];
    MultiRowArgs a = shape_args();
    a.q = s.q.view();
    a.kv = cache_.view(set);
    a.draft = {s.keys.view(), s.values.view(), masks_.view()};
    a.merge.partials = {s.o.view(), s.m.view(), s.l.view()};
    a.merge.out = s.out.view();
    a.merge.lse = s.lse.view();
    return a;
  }

  // Indices of the backend's list that can do this shape; variants() lists exactly these.
  std::vector<std::size_t> supported() const {
    MultiRowArgs a = shape_args();
    a.kv.head_dim = dim();
    a.kv.kv_heads = kv_heads();
    a.kv.max_pages = 1, a.kv.page_tokens = cache_.max_len();
    std::vector<std::size_t> out;
    const auto list = cpu::tree_variants();
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i].supports(a)) out.push_back(i);
    return out;
  }

  // Row of the draft's keys or values of set 0.
  std::vector<float> draft_row(int tensor, float scale, int b, int token, int kv_head) const {
    std::vector<float> out;
    const std::int64_t row =
        (static_cast<std::int64_t>(b) * shape_.tokens + token) * kv_heads() + kv_head;
    for (std::int64_t i = row * dim(); i < (row + 1) * dim(); ++i)
      out.push_back(to_float(to_bf16(
          scale * noise_normal(tensor_seed(seed_, 0, tensor), static_cast<std::uint64_t>(i)))));
    return out;
  }

  // Keys and values of a (sequence, kv head), prefix then draft, remade when a row needs others.
  void load_tokens(int b, int kv_head) {
    const int group = b * kv_heads() + kv_head;
    if (std::exchange(loaded_group_, group) == group && !keys_.empty()) return;
    keys_ = cache_.keys(b, kv_head), values_ = cache_.values(b, kv_head);
    for (int t = 0; t < shape_.tokens; ++t) {
      const auto key = draft_row(3, shape_.kv.key_scale, b, t, kv_head);
      const auto value = draft_row(4, shape_.kv.value_scale, b, t, kv_head);
      keys_.insert(keys_.end(), key.begin(), key.end());
      values_.insert(values_.end(), value.begin(), value.end());
    }
  }

  ReferenceRow reference(std::int64_t row) {
    const auto d = static_cast<std::size_t>(dim());
    const auto kv_head = static_cast<int>(row / shape_.group % kv_heads());
    const std::int64_t query_index = row / (shape_.group * kv_heads());
    const auto b = static_cast<int>(query_index / shape_.tokens);
    const auto token = static_cast<std::size_t>(query_index % shape_.tokens);
    const int len = shape_.kv.lens[static_cast<std::size_t>(b)];
    load_tokens(b, kv_head);
    const std::uint64_t seen = tree_mask(shape_.tree, shape_.tokens, b)[token];
    std::vector<float> query;
    for (std::int64_t i = row * dim(); i < (row + 1) * dim(); ++i)
      query.push_back(
          to_float(to_bf16(noise_normal(tensor_seed(seed_, 0, 0), static_cast<std::uint64_t>(i)))));
    return reference_attention(
        {.query = query,
         .first = 0,
         .tokens = len + shape_.tokens,
         .value_dim = dim(),
         .scale = static_cast<double>(shape_.scale),
         .key = [&](int t) { return &keys_[static_cast<std::size_t>(t) * d]; },
         .value = [&](int t) { return &values_[static_cast<std::size_t>(t) * d]; },
         .visible = [&](int t) { return t < len || (seen >> (t - len) & 1U) != 0; }});
  }

  TreeShape shape_;
  KvCache cache_;
  CaseInfo info_;
  Device* device_ = nullptr;
  std::uint64_t seed_ = 0;
  int splits_ = 1, loaded_group_ = -1;
  std::vector<float> keys_, values_;
  Array<std::uint64_t> masks_;
  std::vector<Set> sets_;
};

}  // namespace

std::unique_ptr<Problem> make_tree_problem(const TreeShape& shape) {
  return std::make_unique<TreeProblem>(shape);
}

}  // namespace kvsim::kernels
