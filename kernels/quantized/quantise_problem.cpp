#include "kernels/quantized/quantise_problem.h"

#include <string>
#include <vector>

#include "kernels/host/array.h"
#include "kernels/host/compare.h"
#include "kernels/quantized/quantise.h"
#include "kernels/quantized/reference.h"
#include "kernels/quantized/source.h"

namespace kvsim::kernels {
namespace {

struct Set {
  Array<Bf16> from[2];
  Array<std::uint8_t> to[2];
  Array<PageJob> jobs;
  Array<float> scales;  // keys' heads, then values' heads
};

// A row of the check is a block: one head of one page, of keys or of values; all of its bytes,
// those that must stay as they were among them.
class QuantiseProblem final : public Problem {
 public:
  explicit QuantiseProblem(const QuantiseShape& shape) : shape_(shape) {
    if (shape_.count < 0) shape_.count = shape_.page;
    info_ = {.kernel = "quantise",
             .q_dtype = "bf16",
             .kv_dtype = std::string(format_name(shape_.format)),
             .acc_dtype = "",
             .shape = {{"pages", shape_.pages},
                       {"Hkv", shape_.kv_heads},
                       {"D", quantised_dim},
                       {"page", shape_.page}}};
    if (shape_.count != shape_.page) {
      info_.shape.emplace_back("first", shape_.first);
      info_.shape.emplace_back("count", shape_.count);
    }
    if (shape_.amplitude != 1 || shape_.offset != 0)
      info_.shape.emplace_back(
          "values", std::to_string(shape_.offset) + "+-" + std::to_string(shape_.amplitude));
  }

  const CaseInfo& info() const override { return info_; }
  Floor floor() const override {
    const double rows = 2.0 * shape_.pages * shape_.kv_heads * shape_.count;
    const double row =
        2.0 * quantised_dim + code_row_bytes(shape_.format) + scale_row_bytes(shape_.format);
    const double scales = scaled() ? 8.0 * shape_.kv_heads : 0;
    return {rows * row + 16.0 * shape_.pages + scales, 0, "2*pages*count*Hkv*D*(2+e)+16*pages"};
  }
  std::vector<VariantInfo> variants() const override {
    std::vector<VariantInfo> out;
    for (const auto& v : cpu::quantise_variants())
      out.push_back({.name = v.name, .min_cc = v.min_cc, .baseline = v.baseline, .plan = ""});
    return out;
  }
  double set_bytes() const override {
    return 2.0 * static_cast<double>(blocks()) *
           (2.0 * block_elements() + static_cast<double>(bytes()));
  }

  void prepare(Device& device, int sets, std::uint64_t seed) override {
    device_ = &device, seed_ = seed;
    const auto blocks_here = static_cast<std::size_t>(blocks());
    std::vector<PageJob> jobs;
    for (int i = 0; i < shape_.pages; ++i)
      jobs.push_back({i, shape_.pages - 1 - i, shape_.first, shape_.count});
    std::vector<float> scales;
    for (int side = 0; side < 2; ++side)
      for (int h = 0; h < shape_.kv_heads; ++h) scales.push_back(scale(side, h));
    for (int s = 0; s < sets; ++s) {
      Set& set = sets_.emplace_back();
      for (std::size_t side = 0; side < 2; ++side) {
        const std::size_t elements = blocks_here * static_cast<std::size_t>(block_elements());
        set.from[side] = Array<Bf16>(device, elements);
        source_.fill(device, set.from[side], elements, seed_ + side);
        set.to[side] = Array<std::uint8_t>(device, blocks_here * bytes());
      }
      set.jobs = Array<PageJob>(device, jobs);
      set.scales = Array<float>(device, scales);
    }
  }
  void poison(int set) override {
    for (auto& array : sets_[static_cast<std::size_t>(set)].to) array.fill_bytes(0xff);
  }
  void launch(std::size_t variant, int set, Stream stream) override {
    const Set& s = sets_[static_cast<std::size_t>(set)];
    const QuantiseArgs args{.k = s.from[0].view(),
                            .v = s.from[1].view(),
                            .k_out = s.to[0].view(),
                            .v_out = s.to[1].view(),
                            .jobs = s.jobs.view(),
                            .k_scale = s.scales.view(),
                            .v_scale = s.scales.view() + shape_.kv_heads,
                            .job_count = shape_.pages,
                            .kv_heads = shape_.kv_heads,
                            .page = shape_.page,
                            .format = shape_.format};
    KVSIM_VARIANTS(device_->backend(), quantise_variants)[variant].launch(args, stream);
  }
  Check check(std::size_t, int max_rows) override {
    Comparison comparison(0);
    for (const std::int64_t row : sample_rows(2 * blocks(), max_rows, seed_)) {
      const auto side = static_cast<std::size_t>(row / blocks());
      const std::int64_t block = row % blocks();
      const auto got =
          sets_[0].to[side].download(static_cast<std::size_t>(block) * bytes(), bytes());
      const auto want = expected(side, block);
      for (std::size_t i = 0; i < want.size(); ++i) comparison.add(got[i], want[i]);
      comparison.end_row();
    }
    return comparison.result();
  }

 private:
  bool scaled() const { return shape_.format == KvFormat::fp8 || shape_.format == KvFormat::nvfp4; }
  // Some values beyond 448 steps in fp8 where the amplitude is not the scale's own.
  float scale(int side, int head) const {
    const float step = shape_.format == KvFormat::fp8 ? 0.0125F : 0.0022F;
    return step * (1.0F + 0.1F * static_cast<float>(head + side));
  }
  std::int64_t blocks() const { return std::int64_t{shape_.pages} * shape_.kv_heads; }
  int block_elements() const { return shape_.page * quantised_dim; }
  std::size_t bytes() const {
    return static_cast<std::size_t>(block_bytes(shape_.format, shape_.page));
  }

  std::vector<std::uint8_t> expected(std::size_t side, std::int64_t block) const {
    const std::int64_t page = shape_.pages - 1 - block / shape_.kv_heads;
    const auto head = static_cast<int>(block % shape_.kv_heads);
    const std::int64_t from = (page * shape_.kv_heads + head) * block_elements();
    std::vector<float> values(static_cast<std::size_t>(block_elements()));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = source_.value(seed_ + side, static_cast<std::uint64_t>(from) + i);
    std::vector<std::uint8_t> out(bytes(), 0xff);
    quantise_block({.format = shape_.format,
                    .side = side == 0 ? KvSide::key : KvSide::value,
                    .page = shape_.page,
                    .scale = scale(static_cast<int>(side), head)},
                   values, shape_.first, shape_.count, out);
    return out;
  }

  QuantiseShape shape_;
  Source source_{shape_.amplitude, shape_.offset};
  CaseInfo info_;
  Device* device_ = nullptr;
  std::uint64_t seed_ = 0;
  std::vector<Set> sets_;
};

}  // namespace

std::unique_ptr<Problem> quantise_problem(const QuantiseShape& shape) {
  return std::make_unique<QuantiseProblem>(shape);
}

}  // namespace kvsim::kernels
