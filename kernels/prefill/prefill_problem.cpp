#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/attention/reference.h"
#include "kernels/fill/fill.h"
#include "kernels/host/array.h"
#include "kernels/host/compare.h"
#include "kernels/host/lengths.h"
#include "kernels/numbers/noise.h"
#include "kernels/prefill/family.h"

namespace kvsim::kernels {
namespace {

// Of the queries and of the tokens that they see.
std::string spread_of(const PrefillShape& shape) {
  const std::string queries = kernels::spread_of(shape.q_lens);
  return queries == "ragged" ? queries : kernels::spread_of(shape.kv.lens);
}

// A row is one query of one head.
class PrefillProblem final : public Problem {
 public:
  explicit PrefillProblem(PrefillShape shape) : shape_(std::move(shape)), cache_(shape_.kv) {
    q_start_.push_back(0);
    for (const int q_len : shape_.q_lens) q_start_.push_back(q_start_.back() + q_len);
    info_ = {.kernel = "prefill",
             .q_dtype = "bf16",
             .kv_dtype = "bf16",
             .shape = {{"B", std::int64_t{cache_.sequences()}},
                       {"Lq", longest_of(shape_.q_lens)},
                       {"Lk", longest_of(shape_.kv.lens)},
                       {"Hq", std::int64_t{q_heads()}},
                       {"Hkv", std::int64_t{shape_.kv.kv_heads}},
                       {"D", std::int64_t{head_dim()}},
                       {"page", std::int64_t{shape_.kv.page_tokens}},
                       {"mask", shape_.mask == Mask::causal ? "causal" : "none"},
                       {"lens", spread_of(shape_)}}};
    const auto all = cpu::prefill_variants();
    for (std::size_t v = 0; v < all.size(); ++v)
      if (all[v].supports == nullptr || all[v].supports(shape_args())) offered_.push_back(v);
  }

  const CaseInfo& info() const override { return info_; }

  Floor floor() const override {
    double pairs = 0;
    for (int b = 0; b < cache_.sequences(); ++b)
      for (int query = 0; query < q_len(b); ++query) pairs += visible(b, query);
    const double q_and_out = 4.0 * rows() * head_dim();
    const double tables = cache_.table_bytes() + 4.0 * static_cast<double>(q_start_.size());
    return {q_and_out + 4.0 * rows() + cache_.kv_bytes() + tables,
            4.0 * pairs * q_heads() * head_dim(),
            "4*sum(Lq)*Hq*D + 4*sum(Lq)*Hq + 4*sum(Lk)*Hkv*D + tables"};
  }

  std::vector<VariantInfo> variants() const override {
    const auto all = cpu::prefill_variants();
    std::vector<VariantInfo> out;
    for (const std::size_t v : offered_)
      out.push_back({.name = all[v].name, .min_cc = all[v].min_cc, .baseline = all[v].baseline});
    return out;
  }

  double set_bytes() const override {
    return cache_.pool_bytes() + 4.0 * rows() * (head_dim() + 1);
  }

  void prepare(Device& device, int sets, std::uint64_t seed) override {
    device_ = &device;
    seed_ = seed;
    cache_.prepare(device, sets, seed);
    device_q_start_ = {device, std::span<const std::int32_t>(q_start_)};
    const auto count = static_cast<std::size_t>(rows());
    for (int s = 0; s < sets; ++s) {
      q_.emplace_back(device, count * static_cast<std::size_t>(head_dim()));
      fill_bf16(device, q_.back(), tensor_seed(seed, s, 0), 1);
      out_.emplace_back(device, count * static_cast<std::size_t>(head_dim()));
      lse_.emplace_back(device, count);
    }
  }

  void poison(int set) override {
    out_[static_cast<std::size_t>(set)].fill_bytes(0xff);
    lse_[static_cast<std::size_t>(set)].fill_bytes(0xff);
  }

  void launch(std::size_t variant, int set, Stream stream) override {
    PrefillArgs args = shape_args();
    const auto s = static_cast<std::size_t>(set);
    args.q = q_[s].view();
    args.kv = cache_.view(set);
    args.q_start = device_q_start_.view();
    args.out = out_[s].view();
    args.lse = lse_[s].view();
    KVSIM_VARIANTS(device_->backend(), prefill_variants)[offered_[variant]].launch(args, stream);
  }

  // Rows in the order (sequence, head, query), so that neighbours share keys and values.
  Check check(std::size_t variant, int max_rows) override {
    const bool naive = cpu::prefill_variants()[offered_[variant]].baseline;
    Comparison comparison(naive ? 4e-3 : 5e-3);
    std::string note;
    KeysAndValues held;
    for (const std::int64_t index :
         sample_rows(static_cast<std::int64_t>(rows()), max_rows, seed_)) {
      const Place place = place_of(index);
      const ReferenceRow want = reference(place, held);
      const std::int64_t row =
          static_cast<std::int64_t>(query_of_all(place)) * q_heads() + place.head;
      const auto dim = static_cast<std::size_t>(head_dim());
      const auto got = out_[0].download(static_cast<std::size_t>(row) * dim, dim);
      for (std::size_t d = 0; d < dim; ++d) comparison.add(to_float(got[d]), want.out[d]);
      comparison.end_row();
      const double lse = lse_[0].download(static_cast<std::size_t>(row), 1)[0];
      if (std::isinf(want.lse) ? lse != want.lse : !(std::abs(lse - want.lse) < 1e-3))
        note = "the log-sum-exp of a row is off";
    }
    Check out = comparison.result();
    out.note = note;
    return out;
  }

 private:
  struct Place {
    int sequence, head, query;
  };
  struct KeysAndValues {
    int sequence = -1, kv_head = -1;
    std::vector<float> keys, values;
  };

  int q_heads() const { return shape_.kv.kv_heads * shape_.group; }
  int head_dim() const { return shape_.kv.head_dim; }
  int q_len(int b) const { return shape_.q_lens[static_cast<std::size_t>(b)]; }
  double rows() const { return static_cast<double>(q_start_.back()) * q_heads(); }
  double scale() const { return 1 / std::sqrt(static_cast<double>(head_dim())); }
  int query_of_all(const Place& place) const {
    return q_start_[static_cast<std::size_t>(place.sequence)] + place.query;
  }

  // Tokens that a query sees, counted from where it stands rather than as the kernel does.
  int visible(int b, int query) const {
    const int len = shape_.kv.lens[static_cast<std::size_t>(b)];
    const int after = q_len(b) - 1 - query;  // queries that stand behind it
    return shape_.mask == Mask::none ? len : std::max(0, len - after);
  }

  PrefillArgs shape_args() const {
    PrefillArgs args;
    args.kv.head_dim = head_dim();
    args.kv.kv_heads = shape_.kv.kv_heads;
    args.log_page = cache_.log_page();
    args.sequences = cache_.sequences();
    args.q_heads = q_heads();
    args.max_q_len = std::ranges::max(shape_.q_lens);
    args.mask = shape_.mask;
    args.scale = static_cast<float>(scale());
    return args;
  }

  Place place_of(std::int64_t index) const {
    for (int b = 0;; ++b) {
      const std::int64_t here = static_cast<std::int64_t>(q_len(b)) * q_heads();
      if (index < here)
        return {b, static_cast<int>(index / q_len(b)), static_cast<int>(index % q_len(b))};
      index -= here;
    }
  }

  ReferenceRow reference(const Place& place, KeysAndValues& held) const {
    const int kv_head = place.head / shape_.group;
    if (held.sequence != place.sequence || held.kv_head != kv_head)
      held = {place.sequence, kv_head, cache_.keys(place.sequence, kv_head),
              cache_.values(place.sequence, kv_head)};
    const auto dim = static_cast<std::size_t>(head_dim());
    std::vector<float> query(dim);
    const std::uint64_t first =
        (static_cast<std::uint64_t>(query_of_all(place)) * static_cast<std::uint64_t>(q_heads()) +
         static_cast<std::uint64_t>(place.head)) *
        dim;
    for (std::size_t d = 0; d < dim; ++d)
      query[d] = to_float(to_bf16(noise_normal(tensor_seed(seed_, 0, 0), first + d)));
    return reference_attention(
        {.query = query,
         .first = 0,
         .tokens = visible(place.sequence, place.query),
         .value_dim = head_dim(),
         .scale = scale(),
         .key = [&](int t) { return &held.keys[static_cast<std::size_t>(t) * dim]; },
         .value = [&](int t) { return &held.values[static_cast<std::size_t>(t) * dim]; },
         .visible = {}});
  }

  PrefillShape shape_;
  KvCache cache_;
  std::vector<std::int32_t> q_start_;
  std::vector<std::size_t> offered_;  // places of the variants in the backend's list
  CaseInfo info_;
  std::uint64_t seed_ = 0;
  Device* device_ = nullptr;
  Array<std::int32_t> device_q_start_;
  std::vector<Array<Bf16>> q_, out_;
  std::vector<Array<float>> lse_;
};

}  // namespace

std::unique_ptr<Problem> make_prefill(PrefillShape shape) {
  return std::make_unique<PrefillProblem>(std::move(shape));
}

}  // namespace kvsim::kernels
