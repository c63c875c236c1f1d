#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/attention/kv_cache.h"
#include "kernels/attention/reference.h"
#include "kernels/fill/fill.h"
#include "kernels/h2o/family.h"
#include "kernels/h2o/h2o.h"
#include "kernels/host/compare.h"
#include "kernels/host/lengths.h"
#include "kernels/numbers/noise.h"

namespace kvsim::kernels {
namespace {

// What the account holds before the step: small, so that the step's own share stays visible in it.
constexpr float prior_scale = 1.0F / 1024;
// Probabilities are never rounded to bf16 on their way to the account.
constexpr double account_gate = 1e-4;

int round_up(int x, int to) { return (x + to - 1) / to * to; }

// What splits are planned for where the device does not say: an H200.
constexpr int default_sms = 132;

// About two blocks for each of two residents of every multiprocessor, at least 256 tokens each.
int split_tokens_for(int groups, int max_len, int sms) {
  const int wanted = (4 * sms + groups - 1) / std::max(1, groups);
  const int splits = std::clamp(wanted, 1, std::max(1, (max_len + 255) / 256));
  return std::max(64, round_up((max_len + splits - 1) / splits, 64));
}

// A row is one (sequence, kv head): the outputs of its query heads and its account.
class H2oProblem final : public Problem {
 public:
  explicit H2oProblem(const H2oShape& shape)
      : shape_(shape),
        cache_({.lens = shape.lens,
                .kv_heads = shape.kv_heads,
                .head_dim = shape.head_dim,
                .page_tokens = shape.page_tokens,
                .shared_tokens = shape.shared_tokens,
                .key_scale = shape.key_scale}) {
    stride_ = round_up(cache_.max_len(), 4);
    decide(default_sms);
    info_ = {.kernel = "h2o_decode",
             .q_dtype = "bf16",
             .kv_dtype = "bf16",
             .shape = {{"B", std::int64_t{cache_.sequences()}},
                       {"L", std::int64_t{cache_.max_len()}},
                       {"Hq", std::int64_t{heads()}},
                       {"Hkv", std::int64_t{shape.kv_heads}},
                       {"D", std::int64_t{shape.head_dim}},
                       {"page", std::int64_t{shape.page_tokens}},
                       {"lens", spread_of(shape.lens)}}};
    if (shape.split_tokens > 0) info_.shape.emplace_back("splits", std::int64_t{splits_});
    if (shape.key_scale != 1)
      info_.shape.emplace_back("scores", std::string(shape.key_scale == 0 ? "equal" : "wide"));
  }

  const CaseInfo& info() const override { return info_; }
  Floor floor() const override {
    const double tokens = std::accumulate(shape_.lens.begin(), shape_.lens.end(), 0.0);
    const double rows = static_cast<double>(cache_.sequences()) * heads();
    return {cache_.kv_bytes() + cache_.table_bytes() + rows * (4.0 * shape_.head_dim + 4) +
                8.0 * tokens * heads() + 8.0 * tokens * shape_.kv_heads,
            4.0 * tokens * heads() * shape_.head_dim,
            "4*B*L*Hkv*D + 8*B*L*Hq + 8*B*L*Hkv + B*Hq*(4*D + 4) + table"};
  }
  std::vector<VariantInfo> variants() const override {
    std::vector<VariantInfo> out;
    for (const auto& v : cpu::h2o_variants())
      out.push_back({.name = v.name,
                     .min_cc = v.min_cc,
                     .baseline = v.baseline,
                     .plan = v.baseline ? "" : "splits=" + std::to_string(splits_),
                     .kernels = v.baseline ? 2 : 3});
    return out;
  }
  double set_bytes() const override {
    const double rows = static_cast<double>(cache_.sequences()) * heads();
    return cache_.pool_bytes() + 4.0 * rows * stride_ + 4.0 * groups() * stride_ +
           4.0 * rows * splits_ * (shape_.head_dim + 2);
  }

  void prepare(Device& device, int sets, std::uint64_t seed) override {
    device_ = &device;
    seed_ = seed;
    decide(device.facts().sms > 0 ? device.facts().sms : default_sms);
    cache_.prepare(device, sets, seed);
    const auto rows = static_cast<std::size_t>(cache_.sequences() * heads());
    const auto width = static_cast<std::size_t>(shape_.head_dim);
    const auto stride = static_cast<std::size_t>(stride_),
               splits = static_cast<std::size_t>(splits_);
    for (int s = 0; s < sets; ++s) {
      sets_.push_back({{device, rows * width},
                       {device, rows * width},
                       {device, rows},
                       {device, static_cast<std::size_t>(groups()) * stride},
                       {device, rows * stride},
                       {device, rows * splits * width},
                       {device, rows * splits},
                       {device, rows * splits}});
      fill_bf16(device, sets_.back().q, tensor_seed(seed, s, 3), 1.0F);
      poison(s);
    }
  }
  void poison(int set) override {
    Set& s = sets_[static_cast<std::size_t>(set)];
    s.out.fill_bytes(0xff);
    s.lse.fill_bytes(0xff);
    s.scores.fill_bytes(0xff);
    s.o.fill_bytes(0xff), s.m.fill_bytes(0xff), s.l.fill_bytes(0xff);
    fill_f32(*device_, s.accumulated, prior_seed(set), prior_scale);
  }
  void launch(std::size_t variant, int set, Stream stream) override {
    KVSIM_VARIANTS(device_->backend(), h2o_variants)[variant].launch(args(set), stream);
  }

  Check check(std::size_t variant, int max_rows) override {
    // The fast version rounds probabilities to bf16 before it multiplies them with the values.
    Comparison out(cpu::h2o_variants()[variant].baseline ? 4e-3 : 5e-3), account(account_gate);
    const int rows = std::max(1, max_rows / std::max(1, shape_.heads_per_group));
    for (const std::int64_t group : sample_rows(groups(), rows, seed_))
      compare_group(static_cast<int>(group), out, account);
    Check result = out.result();
    if (const Check mass = account.result(); !mass.passed())
      result.note =
          "the accumulated probabilities are wrong: relative error " + std::to_string(mass.rel_l2);
    return result;
  }

 private:
  struct Set {
    Array<Bf16> q, out;
    Array<float> lse, accumulated, scores, o, m, l;
  };
  int heads() const { return shape_.kv_heads * shape_.heads_per_group; }
  int groups() const { return static_cast<int>(shape_.lens.size()) * shape_.kv_heads; }
  void decide(int sms) {
    split_tokens_ = shape_.split_tokens > 0 ? shape_.split_tokens
                                            : split_tokens_for(groups(), cache_.max_len(), sms);
    splits_ = std::max(1, (cache_.max_len() + split_tokens_ - 1) / split_tokens_);
  }
  std::uint64_t prior_seed(int set) const { return tensor_seed(seed_, set, 4); }

  H2oArgs args(int set) const {
    const Set& s = sets_[static_cast<std::size_t>(set)];
    H2oArgs out;
    out.q = s.q.view();
    out.kv = cache_.view(set);
    out.sequences = cache_.sequences();
    out.heads_per_group = shape_.heads_per_group;
    out.log_page = cache_.log_page();
    out.scale_log2 =
        static_cast<float>(1.0 / std::sqrt(static_cast<double>(shape_.head_dim)) / std::log(2.0));
    out.out = s.out.view();
    out.lse = s.lse.view();
    out.accumulated = s.accumulated.view();
    out.stride = stride_;
    out.scores = s.scores.view();
    out.partials = {s.o.view(), s.m.view(), s.l.view()};
    out.splits = splits_;
    out.split_tokens = split_tokens_;
    return out;
  }

  void compare_group(int group, Comparison& out, Comparison& account) const {
    const int b = group / shape_.kv_heads, kv_head = group % shape_.kv_heads;
    const int len = shape_.lens[static_cast<std::size_t>(b)];
    const auto width = static_cast<std::size_t>(shape_.head_dim);
    const auto keys = cache_.keys(b, kv_head), values = cache_.values(b, kv_head);
    std::vector<double> mass(static_cast<std::size_t>(len));
    for (int g = 0; g < shape_.heads_per_group; ++g) {
      const auto row = static_cast<std::size_t>(group * shape_.heads_per_group + g);
      std::vector<float> query(width);
      for (std::size_t i = 0; i < width; ++i)
        query[i] = to_float(to_bf16(noise_normal(tensor_seed(seed_, 0, 3), row * width + i)));
      const auto row_of = [&](const std::vector<float>& rows) {
        return [&rows, width](int t) { return rows.data() + static_cast<std::size_t>(t) * width; };
      };
      const ReferenceRow want =
          reference_attention({.query = query,
                               .tokens = len,
                               .value_dim = shape_.head_dim,
                               .scale = 1.0 / std::sqrt(static_cast<double>(shape_.head_dim)),
                               .key = row_of(keys),
                               .value = row_of(values),
                               .visible = {}});
      const auto got = sets_[0].out.download(row * width, width);
      for (std::size_t i = 0; i < width; ++i) out.add(to_float(got[i]), want.out[i]);
      out.end_row();
      for (std::size_t t = 0; t < mass.size(); ++t) mass[t] += want.probability[t];
    }
    compare_account(group, mass, account);
  }

  void compare_account(int group, const std::vector<double>& mass, Comparison& account) const {
    const auto stride = static_cast<std::size_t>(stride_);
    const auto at = static_cast<std::size_t>(group) * stride;
    const auto got = sets_[0].accumulated.download(at, stride);
    for (std::size_t t = 0; t < stride; ++t) {
      const float prior = prior_scale * noise_normal(prior_seed(0), at + t);
      account.add(static_cast<double>(got[t]) - static_cast<double>(prior),
                  t < mass.size() ? mass[t] : 0.0);
    }
    account.end_row();
  }

  H2oShape shape_;
  KvCache cache_;
  int stride_ = 0, split_tokens_ = 64, splits_ = 1;
  CaseInfo info_;
  std::uint64_t seed_ = 0;
  Device* device_ = nullptr;
  std::vector<Set> sets_;
};

}  // namespace

std::unique_ptr<Problem> make_h2o_decode(const H2oShape& shape) {
  return std::make_unique<H2oProblem>(shape);
}

}  // namespace kvsim::kernels
