#include <algorithm>

#include "kernels/attention/kv_cache.h"
#include "kernels/fill/fill.h"
#include "kernels/host/compare.h"
#include "kernels/host/lengths.h"
#include "kernels/mla/mla_problem.h"

namespace kvsim::kernels {
namespace {

constexpr float naive_scale = 0.0722F;   // 1 / sqrt(192)
constexpr float weight_scale = 0.0442F;  // 1 / sqrt(512): projections of unit variance
constexpr auto query = static_cast<std::size_t>(mla_head + mla_rope);
constexpr auto matrix = static_cast<std::size_t>(mla_head * mla_latent);

class MlaNaiveProblem final : public Problem {
 public:
  explicit MlaNaiveProblem(const MlaNaiveShape& shape)
      : shape_(shape), pages_(shape.lens, shape.page_tokens, Pages::shuffled) {
    info_ = {.kernel = "mla_naive",
             .q_dtype = "bf16",
             .kv_dtype = "bf16",
             .shape = {{"B", static_cast<std::int64_t>(shape.lens.size())},
                       {"L", longest_of(shape.lens)},
                       {"Hq", shape.heads},
                       {"page", shape.page_tokens},
                       {"lens", spread_of(shape.lens)}}};
  }

  const CaseInfo& info() const override { return info_; }
  Floor floor() const override {
    double tokens = 0;
    for (const std::int32_t len : shape_.lens) tokens += len;
    const double b = static_cast<double>(shape_.lens.size());
    return {.bytes = 2.0 * mla_row * static_cast<double>(pages_.distinct_tokens()) +
                     4.0 * matrix * shape_.heads + 2.0 * (query + mla_head) * b * shape_.heads +
                     4.0 * static_cast<double>(pages_.table_entries()) + 4.0 * b,
            .flops = tokens * shape_.heads * (4.0 * matrix + 2.0 * (query + mla_head)),
            .formula = "1152*B*L + 4*128*512*Hq + 2*(192+128)*B*Hq + 4*(B*L/page + B)"};
  }
  std::vector<VariantInfo> variants() const override {
    std::vector<VariantInfo> out;
    for (const auto& v : cpu::mla_naive_variants())
      out.push_back({.name = v.name, .min_cc = v.min_cc, .baseline = v.baseline});
    return out;
  }
  double set_bytes() const override { return floor().bytes; }

  void prepare(Device& device, int sets, std::uint64_t seed) override {
    device_ = &device;
    seed_ = seed;
    sets_.clear();
    const auto heads = static_cast<std::size_t>(shape_.heads);
    const std::size_t rows = shape_.lens.size() * heads;
    for (int s = 0; s < sets; ++s) {
      Set set{pages_.make(device, tensor_seed(seed, s, 0)),
              {device, rows * query},
              {device, heads * matrix},
              {device, heads * matrix},
              {device, rows * mla_head}};
      fill_bf16(device, set.q, tensor_seed(seed, s, 1), 1);
      fill_bf16(device, set.w_uk, tensor_seed(seed, s, 2), weight_scale);
      fill_bf16(device, set.w_uv, tensor_seed(seed, s, 3), weight_scale);
      sets_.push_back(std::move(set));
    }
  }
  void poison(int set) override { sets_[static_cast<std::size_t>(set)].out.fill_bytes(0xff); }
  void launch(std::size_t variant, int set, Stream stream) override {
    const Set& s = sets_[static_cast<std::size_t>(set)];
    KVSIM_VARIANTS(device_->backend(), mla_naive_variants)
    [variant].launch({.q = s.q.view(),
                      .cache = pages_.view(s.cache),
                      .w_uk = s.w_uk.view(),
                      .w_uv = s.w_uv.view(),
                      .out = s.out.view(),
                      .batch = static_cast<int>(shape_.lens.size()),
                      .heads = shape_.heads,
                      .scale = naive_scale},
                     stream);
  }
  // Against the absorbed form: what the projections do per token, its query and output do once.
  Check check(std::size_t, int max_rows) override {
    Comparison comparison(4e-3);
    const auto rows = static_cast<std::int64_t>(shape_.lens.size()) * shape_.heads;
    for (const std::int64_t row : sample_rows(rows, max_rows, seed_)) {
      const auto b = static_cast<std::size_t>(row / shape_.heads);
      const std::int64_t head = row % shape_.heads * static_cast<std::int64_t>(matrix);
      const HeadMatrices matrices{
          noise_doubles(tensor_seed(seed_, 0, 2), head, matrix, weight_scale),
          noise_doubles(tensor_seed(seed_, 0, 3), head, matrix, weight_scale)};
      const auto q =
          noise_doubles(tensor_seed(seed_, 0, 1), row * static_cast<std::int64_t>(query), query, 1);
      const int len = shape_.lens[b];
      const auto latent =
          mla_absorbed(absorb_query(q, matrices), pages_.rows_of(b, len, tensor_seed(seed_, 0, 0)),
                       len, static_cast<double>(naive_scale));
      const auto want = project_output(latent, matrices);
      const auto got = sets_[0].out.download(static_cast<std::size_t>(row * mla_head), want.size());
      for (std::size_t i = 0; i < want.size(); ++i) comparison.add(to_float(got[i]), want[i]);
      comparison.end_row();
    }
    return comparison.result();
  }

 private:
  struct Set {
    LatentPages::Copy cache;
    Array<Bf16> q, w_uk, w_uv, out;
  };
  MlaNaiveShape shape_;
  LatentPages pages_;
  CaseInfo info_;
  Device* device_ = nullptr;
  std::uint64_t seed_ = 0;
  std::vector<Set> sets_;
};

}  // namespace

std::unique_ptr<Problem> make_mla_naive_problem(const MlaNaiveShape& shape) {
  return std::make_unique<MlaNaiveProblem>(shape);
}

}  // namespace kvsim::kernels
