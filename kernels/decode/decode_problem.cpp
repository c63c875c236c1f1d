#include "kernels/decode/decode_problem.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/attention/problem_limits.h"
#include "kernels/attention/reference.h"
#include "kernels/attention/row_check.h"
#include "kernels/decode/decode_plan.h"

namespace kvsim::kernels {
namespace {

std::string kernel_name(const DecodeShape& shape) {
  if (shape.window > 0) return "decode_window";
  return shape.kv.page_tokens == 0 ? "decode_contiguous" : "decode_paged";
}

class DecodeProblem final : public Problem {
 public:
  explicit DecodeProblem(const DecodeShape& shape) : shape_(shape), cache_(shape.kv) {
    if (shape_.scale == 0) shape_.scale = 1.0F / std::sqrt(static_cast<float>(shape_.kv.head_dim));
    decide(default_sms);
    info_ = {.kernel = kernel_name(shape_),
             .q_dtype = "bf16",
             .kv_dtype = "bf16",
             .shape = {{"B", std::int64_t{cache_.sequences()}},
                       {"L", std::int64_t{cache_.max_len()}},
                       {"Hq", std::int64_t{q_heads()}},
                       {"Hkv", std::int64_t{shape_.kv.kv_heads}},
                       {"D", std::int64_t{dim()}}}};
    if (shape_.kv.page_tokens > 0)
      info_.shape.emplace_back("page", std::int64_t{shape_.kv.page_tokens});
    if (shape_.window > 0) info_.shape.emplace_back("window", std::int64_t{shape_.window});
    if (shape_.splits > 0) info_.shape.emplace_back("splits", std::int64_t{shape_.splits});
    info_.shape.emplace_back("lens", shape_.lens.empty() ? "uniform" : shape_.lens);
  }

  const CaseInfo& info() const override { return info_; }

  Floor floor() const override {
    const double q_out_lse = static_cast<double>(rows()) * (4.0 * dim() + 4.0);
    double flops = 0;
    for (const int len : shape_.kv.lens)
      flops += 4.0 * (len - first_visible(len, shape_.window)) * q_heads() * dim();
    return {cache_.kv_bytes(shape_.window) + cache_.table_bytes(shape_.window) + q_out_lse, flops,
            "4*D*Hkv*sum(min(L,W)) + 4*B*Hq*D + 4*B*Hq + 4*pages + 4*B"};
  }

  std::vector<VariantInfo> variants() const override {
    const std::string splits = "splits=" + std::to_string(splits_);
    const std::string runs = "runs=" + std::to_string(plan_.runs());
    std::vector<VariantInfo> out;
    for (const std::size_t i : supported()) {
      const auto& v = cpu::decode_variants()[i];
      const std::string name = v.name;
      const bool planned = name == "mma_planned", naive = name == "simt_nosplit";
      const bool merges =
          planned ? plan_.partials() > 0 : !naive && splits_ > 1 && name != "mma_lastblock";
      out.push_back({.name = name,
                     .min_cc = v.min_cc,
                     .baseline = v.baseline,
                     .plan = naive ? "" : (planned ? runs : splits),
                     .kernels = merges ? 2 : 1});
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
    segments_ = {device, std::span<const DecodeSegment>(plan_.segments)};
    run_first_ = {device, std::span<const std::int32_t>(plan_.run_first)};
    partial_first_ = {device, std::span<const std::int32_t>(plan_.partial_first)};
    sets_.clear();
    for (int s = 0; s < sets; ++s) {
      const auto partials = static_cast<std::size_t>(partial_rows());
      const auto elements = static_cast<std::size_t>(rows() * dim());
      Set set{{device, elements},
              {device, elements},
              {device, static_cast<std::size_t>(rows())},
              {device, partials * static_cast<std::size_t>(dim())},
              {device, partials},
              {device, partials},
              {device, static_cast<std::size_t>(groups())}};
      fill_noise(device, set.q, tensor_seed(seed, s, 0));
      set.counters.fill_bytes(0);
      sets_.push_back(std::move(set));
    }
  }

  void poison(int set) override {
    Set& s = sets_[static_cast<std::size_t>(set)];
    s.out.fill_bytes(0xff), s.lse.fill_bytes(0xff);
    s.o.fill_bytes(0xff), s.m.fill_bytes(0xff), s.l.fill_bytes(0xff);
  }

  void launch(std::size_t variant, int set, Stream stream) override {
    KVSIM_VARIANTS(device_->backend(), decode_variants)
    [supported()[variant]].launch(args(set), stream);
  }

  Check check(std::size_t variant, int max_rows) override {
    const std::string name = cpu::decode_variants()[supported()[variant]].name;
    RowCheck check(name.starts_with("simt") ? gate_f32 : gate_bf16_p, sets_[0].out.download(),
                   sets_[0].lse.download());
    const auto q = sets_[0].q.download();
    const int count = checked_rows(max_rows, cache_.max_len());
    std::int64_t group_of_kv = -1;
    std::vector<float> keys, values;
    for (const std::int64_t row : sample_rows(rows(), count, seed_)) {
      const std::int64_t group = row / shape_.group;
      const auto b = static_cast<std::size_t>(group / shape_.kv.kv_heads);
      const int len = shape_.kv.lens[b], first = first_visible(len, shape_.window);
      if (group != std::exchange(group_of_kv, group)) {
        const auto kv_head = static_cast<int>(group % shape_.kv.kv_heads);
        keys = cache_.keys(static_cast<int>(b), kv_head, first);
        values = cache_.values(static_cast<int>(b), kv_head, first);
      }
      check.add(row, reference_row(q, keys, values, row, len - first));
    }
    return check.result();
  }

 private:
  struct Set {
    Array<Bf16> q, out;
    Array<float> lse, o, m, l;
    Array<std::uint32_t> counters;
  };

  int dim() const { return shape_.kv.head_dim; }
  int q_heads() const { return shape_.group * shape_.kv.kv_heads; }
  int groups() const { return cache_.sequences() * shape_.kv.kv_heads; }
  std::int64_t rows() const { return static_cast<std::int64_t>(groups()) * shape_.group; }
  std::int64_t partial_rows() const {
    const std::int64_t split = splits_ > 1 ? static_cast<std::int64_t>(groups()) * splits_ : 0;
    return std::max<std::int64_t>(split, plan_.partials()) * shape_.group;
  }

  void decide(int sms) {
    // Blocks per SM of the tensor core kernel, see attend.cuh.
    const int slots = sms * (dim() == 128 ? 2 : 4);
    const int longest =
        shape_.window > 0 ? std::min(cache_.max_len(), shape_.window) : cache_.max_len();
    splits_ = shape_.splits > 0 ? shape_.splits : choose_splits(groups(), longest, slots);
    plan_ = plan_decode(shape_.kv.lens, shape_.kv.kv_heads, shape_.window,
                        shape_.blocks > 0 ? shape_.blocks : slots);
  }

  DecodeArgs args(int set) const {
    const Set& s = sets_[static_cast<std::size_t>(set)];
    return {.q = s.q.view(),
            .kv = cache_.view(set),
            .log_page = cache_.log_page(),
            .scale = shape_.scale,
            .window = shape_.window,
            .merge = {.partials = {s.o.view(), s.m.view(), s.l.view()},
                      .first = {},
                      .splits = splits_,
                      .groups = groups(),
                      .kv_heads = shape_.kv.kv_heads,
                      .heads_per_group = shape_.group,
                      .tokens = 1,
                      .value_dim = dim(),
                      .out = s.out.view(),
                      .lse = s.lse.view()},
            .counters = s.counters.view(),
            .plan = {segments_.view(), run_first_.view(), partial_first_.view(), plan_.runs(),
                     plan_.partials()}};
  }

  // Indices of the backend's list that can do this shape; variants() lists exactly these.
  std::vector<std::size_t> supported() const {
    DecodeArgs shape;
    shape.kv.head_dim = dim();
    shape.log_page = cache_.log_page();
    shape.merge.heads_per_group = shape_.group;
    std::vector<std::size_t> out;
    const auto list = cpu::decode_variants();
    for (std::size_t i = 0; i < list.size(); ++i)
      if (list[i].supports == nullptr || list[i].supports(shape)) out.push_back(i);
    return out;
  }

  ReferenceRow reference_row(const std::vector<Bf16>& q, const std::vector<float>& keys,
                             const std::vector<float>& values, std::int64_t row, int tokens) const {
    const auto d = static_cast<std::size_t>(dim());
    std::vector<float> query;
    for (std::size_t i = 0; i < d; ++i)
      query.push_back(to_float(q[static_cast<std::size_t>(row) * d + i]));
    return reference_attention(
        {.query = query,
         .first = 0,
         .tokens = tokens,
         .value_dim = dim(),
         .scale = static_cast<double>(shape_.scale),
         .key = [&](int t) { return &keys[static_cast<std::size_t>(t) * d]; },
         .value = [&](int t) { return &values[static_cast<std::size_t>(t) * d]; },
         .visible = {}});
  }

  DecodeShape shape_;
  KvCache cache_;
  CaseInfo info_;
  Device* device_ = nullptr;
  std::uint64_t seed_ = 0;
  int splits_ = 1;
  DecodePlan plan_;
  Array<DecodeSegment> segments_;
  Array<std::int32_t> run_first_, partial_first_;
  std::vector<Set> sets_;
};

}  // namespace

std::unique_ptr<Problem> make_decode_problem(const DecodeShape& shape) {
  return std::make_unique<DecodeProblem>(shape);
}

}  // namespace kvsim::kernels
