#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/attention/problem_limits.h"
#include "kernels/attention/row_check.h"
#include "kernels/cascade/cascade.h"
#include "kernels/cascade/family.h"
#include "kernels/decode/decode_plan.h"

namespace kvsim::kernels {
namespace {

KvShape kv_shape(const CascadeShape& shape) {
  KvShape kv{.lens = shape.suffixes,
             .kv_heads = shape.kv_heads,
             .head_dim = shape.head_dim,
             .page_tokens = shape.page_tokens,
             .shared_tokens = shape.prefix,
             .key_scale = shape.key_scale};
  for (int& len : kv.lens) len += shape.prefix;
  return kv;
}

class CascadeProblem final : public Problem {
 public:
  explicit CascadeProblem(const CascadeShape& shape) : shape_(shape), cache_(kv_shape(shape)) {
    if (shape_.scale == 0) shape_.scale = 1.0F / std::sqrt(static_cast<float>(dim()));
    decide(default_sms);
    info_ = {.kernel = "cascade",
             .q_dtype = "bf16",
             .kv_dtype = "bf16",
             .shape = {{"B", std::int64_t{cache_.sequences()}},
                       {"prefix", std::int64_t{shape_.prefix}},
                       {"suffix", std::int64_t{longest_suffix()}},
                       {"Hq", std::int64_t{q_heads()}},
                       {"Hkv", std::int64_t{shape_.kv_heads}},
                       {"D", std::int64_t{dim()}},
                       {"page", std::int64_t{shape_.page_tokens}}}};
    if (shape_.prefix_splits > 0)
      info_.shape.emplace_back("prefix_splits", std::int64_t{shape_.prefix_splits});
    if (shape_.suffix_splits > 0)
      info_.shape.emplace_back("suffix_splits", std::int64_t{shape_.suffix_splits});
    info_.shape.emplace_back("lens", shape_.lens.empty() ? "uniform" : shape_.lens);
  }

  const CaseInfo& info() const override { return info_; }

  Floor floor() const override {
    double flops = 0, entries = shape_.prefix / std::max(1, shape_.page_tokens);
    for (const int suffix : shape_.suffixes) {
      flops += 4.0 * (shape_.prefix + suffix) * q_heads() * dim();
      if (shape_.page_tokens > 0) entries += (suffix + shape_.page_tokens - 1) / shape_.page_tokens;
    }
    return {cache_.kv_bytes() + 4.0 * entries + 4.0 * cache_.sequences() +
                static_cast<double>(rows()) * (4.0 * dim() + 4.0),
            flops, "4*D*Hkv*(P + sum(S)) + 4*B*Hq*D + 4*B*Hq + 4*pages + 4*B"};
  }

  std::vector<VariantInfo> variants() const override {
    std::vector<VariantInfo> out;
    for (const std::size_t i : supported()) {
      const auto& v = cpu::cascade_variants()[i];
      const std::string name = v.name;
      VariantInfo info{.name = name, .min_cc = v.min_cc, .baseline = v.baseline};
      if (name == "mma_unshared") {
        info.plan = "splits=" + std::to_string(unshared_splits_);
        info.kernels = unshared_splits_ > 1 ? 2 : 1;
      } else if (name == "mma_cascade") {
        info.plan = "prefix_splits=" + std::to_string(prefix_splits_) +
                    " suffix_splits=" + std::to_string(suffix_splits_);
        info.kernels = shape_.prefix > 0 ? 3 : (suffix_splits_ > 1 ? 2 : 1);
      }
      out.push_back(info);
    }
    return out;
  }

  double set_bytes() const override {
    return cache_.pool_bytes() + static_cast<double>(rows()) * (4.0 * dim() + 4.0) +
           static_cast<double>(partial_rows()) * 4.0 * (dim() + 2);
  }

  void prepare(Device& device, int sets, std::uint64_t seed) override {
    device_ = &device;
    seed_ = seed;
    decide(sms_of(device));
    cache_.prepare(device, sets, seed);
    sets_.clear();
    for (int s = 0; s < sets; ++s) {
      const auto elements = static_cast<std::size_t>(rows() * dim());
      const auto partials = static_cast<std::size_t>(partial_rows());
      Set set{{device, elements},
              {device, elements},
              {device, static_cast<std::size_t>(rows())},
              {device, partials * static_cast<std::size_t>(dim())},
              {device, partials},
              {device, partials}};
      fill_noise(device, set.q, tensor_seed(seed, s, 0));
      sets_.push_back(std::move(set));
    }
  }

  void poison(int set) override {
    Set& s = sets_[static_cast<std::size_t>(set)];
    s.out.fill_bytes(0xff), s.lse.fill_bytes(0xff);
    s.o.fill_bytes(0xff), s.m.fill_bytes(0xff), s.l.fill_bytes(0xff);
  }

  void launch(std::size_t variant, int set, Stream stream) override {
    KVSIM_VARIANTS(device_->backend(), cascade_variants)
    [supported()[variant]].launch(args(set), stream);
  }

  Check check(std::size_t variant, int max_rows) override {
    const std::string name = cpu::cascade_variants()[supported()[variant]].name;
    RowCheck check(name == "naive" ? gate_f32 : gate_bf16_p, sets_[0].out.download(),
                   sets_[0].lse.download());
    const auto q = sets_[0].q.download();
    const int count = checked_rows(max_rows, cache_.max_len());
    std::int64_t loaded = -1;
    std::vector<float> keys, values;
    for (const std::int64_t row : sample_rows(rows(), count, seed_)) {
      const std::int64_t group = row / shape_.group;
      if (std::exchange(loaded, group) != group) {
        const auto b = static_cast<int>(group / shape_.kv_heads);
        const auto kv_head = static_cast<int>(group % shape_.kv_heads);
        keys = cache_.keys(b, kv_head), values = cache_.values(b, kv_head);
      }
      check.add(row, reference(q, keys, values, row));
    }
    return check.result();
  }

 private:
  struct Set {
    Array<Bf16> q, out;
    Array<float> lse, o, m, l;
  };

  int dim() const { return shape_.head_dim; }
  int q_heads() const { return shape_.group * shape_.kv_heads; }
  int groups() const { return cache_.sequences() * shape_.kv_heads; }
  int longest_suffix() const { return std::max(0, cache_.max_len() - shape_.prefix); }
  std::int64_t rows() const { return static_cast<std::int64_t>(groups()) * shape_.group; }
  std::int64_t partial_rows() const {
    return rows() * std::max(unshared_splits_, prefix_splits_ + suffix_splits_);
  }

  void decide(int sms) {
    const int slots = sms * (dim() == 128 ? 2 : 3);
    const int prefix_blocks = shape_.kv_heads * row_blocks(cache_.sequences() * shape_.group);
    unshared_splits_ = shape_.suffix_splits > 0 ? shape_.suffix_splits
                                                : choose_splits(groups(), cache_.max_len(), slots);
    prefix_splits_ = shape_.prefix_splits > 0 ? shape_.prefix_splits
                                              : choose_splits(prefix_blocks, shape_.prefix, slots);
    suffix_splits_ = shape_.suffix_splits > 0 ? shape_.suffix_splits
                                              : choose_splits(groups(), longest_suffix(), slots);
  }

  CascadeArgs shape_args() const {
    CascadeArgs a;
    a.whole.log_page = cache_.log_page();
    a.whole.scale = shape_.scale;
    a.whole.sequences = cache_.sequences();
    a.whole.heads_per_group = shape_.group;
    a.whole.splits = unshared_splits_;
    a.whole.merge = merge_of_rows(rows(), unshared_splits_, dim());
    a.prefix_tokens = shape_.prefix;
    a.prefix_splits = prefix_splits_, a.suffix_splits = suffix_splits_;
    return a;
  }

  CascadeArgs args(int set) const {
    const Set& s = sets_[static_cast<std::size_t>(set)];
    CascadeArgs a = shape_args();
    a.whole.q = s.q.view();
    a.whole.kv = cache_.view(set);
    a.whole.merge.partials = {s.o.view(), s.m.view(), s.l.view()};
    a.whole.merge.out = s.out.view();
    a.whole.merge.lse = s.lse.view();
    return a;
  }

  // Indices of the backend's list that can do this shape; variants() lists exactly these.
  std::vector<std::size_t> supported() const {
    CascadeArgs a = shape_args();
    a.whole.kv.head_dim = dim(), a.whole.kv.kv_heads = shape_.kv_heads;
    a.whole.kv.max_pages = 1, a.whole.kv.page_tokens = cache_.max_len();
    std::vector<std::size_t> out;
    const auto list = cpu::cascade_variants();
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i].supports(a)) out.push_back(i);
    return out;
  }

  ReferenceRow reference(const std::vector<Bf16>& q, const std::vector<float>& keys,
                         const std::vector<float>& values, std::int64_t row) const {
    const auto d = static_cast<std::size_t>(dim());
    std::vector<float> query;
    for (std::size_t i = 0; i < d; ++i)
      query.push_back(to_float(q[static_cast<std::size_t>(row) * d + i]));
    return reference_attention(
        {.query = query,
         .first = 0,
         .tokens = static_cast<int>(keys.size() / d),
         .value_dim = dim(),
         .scale = static_cast<double>(shape_.scale),
         .key = [&](int t) { return &keys[static_cast<std::size_t>(t) * d]; },
         .value = [&](int t) { return &values[static_cast<std::size_t>(t) * d]; },
         .visible = {}});
  }

  CascadeShape shape_;
  KvCache cache_;
  CaseInfo info_;
  Device* device_ = nullptr;
  std::uint64_t seed_ = 0;
  int unshared_splits_ = 1, prefix_splits_ = 1, suffix_splits_ = 1;
  std::vector<Set> sets_;
};

}  // namespace

std::unique_ptr<Problem> make_cascade_problem(const CascadeShape& shape) {
  return std::make_unique<CascadeProblem>(shape);
}

}  // namespace kvsim::kernels
