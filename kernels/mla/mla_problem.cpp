#include "kernels/mla/mla_problem.h"

#include <algorithm>
#include <map>
#include <thread>

#include "kernels/attention/kv_cache.h"
#include "kernels/fill/fill.h"
#include "kernels/host/compare.h"
#include "kernels/host/lengths.h"
#include "kernels/mla/plan.h"

namespace kvsim::kernels {
namespace {

// Rows per block of each mma variant, by its place in the list; 0: not split.
int block_rows(const Variant<MlaArgs>& variant) {
  const std::string name = variant.name;
  return name.rfind("mma", 0) == 0 ? std::stoi(name.substr(3)) : 0;
}

MlaPlan plan_for(const MlaShape& shape, int rows_per_block, int sms) {
  if (rows_per_block == 0) return plan_mla(shape.lens, 1, 1);
  const int row_blocks = (shape.heads * shape.queries + rows_per_block - 1) / rows_per_block;
  const int blocks = shape.blocks > 0 ? shape.blocks : std::max(sms, 1);
  return plan_mla(shape.lens, std::max(1, blocks / row_blocks), shape.min_tiles);
}

class MlaProblem final : public Problem {
 public:
  explicit MlaProblem(const MlaShape& shape)
      : shape_(shape), pages_(shape.lens, shape.page_tokens, shape.pages) {
    info_ = {.kernel = "mla_decode",
             .q_dtype = "bf16",
             .kv_dtype = "bf16",
             .shape = {{"B", static_cast<std::int64_t>(shape.lens.size())},
                       {"L", longest_of(shape.lens)},
                       {"Hq", shape.heads},
                       {"T", shape.queries},
                       {"page", shape.page_tokens},
                       {"lens", spread_of(shape.lens)}}};
    if (shape.q_scale != MlaShape{}.q_scale) info_.shape.push_back({"scores", "equal"});
    if (shape.scale != MlaShape{}.scale)
      info_.shape.push_back({"scores", shape.scale > 1 ? "sharp" : "flat"});
    for (const auto& v : cpu::mla_variants())
      if (v.supports == nullptr || v.supports(shape_args())) variants_.push_back(&v);
  }

  const CaseInfo& info() const override { return info_; }
  Floor floor() const override {
    double products = 0;  // pairs of a row and a token it sees
    for (const std::int32_t len : shape_.lens)
      for (int row = 0; row < rows(); ++row) products += std::max(0, shape_args().limit(len, row));
    const double b = static_cast<double>(shape_.lens.size());
    return {.bytes = 2.0 * mla_row * static_cast<double>(pages_.distinct_tokens()) +
                     2.0 * (mla_row + mla_latent) * rows() * b +
                     4.0 * static_cast<double>(pages_.table_entries()) + 4.0 * b,
            .flops = 2.0 * (mla_row + mla_latent) * products,
            .formula = "1152*B*L + 2*(576+512)*B*T*Hq + 4*(B*L/page + B)"};
  }
  std::vector<VariantInfo> variants() const override {
    std::vector<VariantInfo> out;
    for (const auto* v : variants_) {
      VariantInfo info{.name = v->name, .min_cc = v->min_cc, .baseline = v->baseline};
      if (v->baseline) {
        // One block per row, never split.
      } else if (shape_.blocks == 0 && sms_ == 0) {
        // The device is not known before prepare().
        info.plan = "blocks=sms min_tiles=" + std::to_string(shape_.min_tiles);
        info.kernels = 2;
      } else {
        const MlaPlan plan = plan_for(shape_, block_rows(*v), sms_);
        info.plan =
            "runs=" + std::to_string(plan.runs()) + " partials=" + std::to_string(plan.slots());
        info.kernels = plan.slots() > 0 ? 2 : 1;
      }
      out.push_back(info);
    }
    return out;
  }
  double set_bytes() const override {
    return pages_.bytes() + 2.0 * (mla_row + mla_latent) * static_cast<double>(output_rows());
  }

  void prepare(Device& device, int sets, std::uint64_t seed) override {
    device_ = &device;
    seed_ = seed;
    sms_ = device.facts().sms;
    sets_.clear();
    for (int s = 0; s < sets; ++s) {
      Set set{pages_.make(device, tensor_seed(seed, s, 0)),
              {device, static_cast<std::size_t>(output_rows() * mla_row)},
              {device, static_cast<std::size_t>(output_rows() * mla_latent)}};
      fill_bf16(device, set.q, tensor_seed(seed, s, 1), shape_.q_scale);
      sets_.push_back(std::move(set));
    }
    plans_.clear();
    int slots = 0;
    for (const auto* v : variants_) {
      plans_.emplace_back(device, plan_for(shape_, block_rows(*v), sms_));
      slots = std::max(slots, plans_.back().slots);
    }
    // Sets share the partial results: they are gone when the merge is done.
    const auto partial_rows = static_cast<std::size_t>(slots) * static_cast<std::size_t>(rows());
    partial_o_ = Array<float>(device, partial_rows * mla_latent);
    partial_m_ = Array<float>(device, partial_rows);
    partial_l_ = Array<float>(device, partial_rows);
  }
  void poison(int set) override {
    sets_[static_cast<std::size_t>(set)].out.fill_bytes(0xff);
    partial_o_.fill_bytes(0xff);
    partial_m_.fill_bytes(0xff);
    partial_l_.fill_bytes(0xff);
  }
  void launch(std::size_t variant, int set, Stream stream) override {
    const Set& s = sets_[static_cast<std::size_t>(set)];
    const DevicePlan& plan = plans_[variant];
    MlaArgs args = shape_args();
    args.q = s.q.view();
    args.cache = pages_.view(s.cache);
    args.out = s.out.view();
    args.parts = plan.parts.view();
    args.run_first = plan.run_first.view();
    args.slot_first = plan.slot_first.view();
    args.partials = {partial_o_.view(), partial_m_.view(), partial_l_.view()};
    args.runs = plan.runs;
    args.slots = plan.slots;
    const auto all = KVSIM_VARIANTS(device_->backend(), mla_variants);
    all[static_cast<std::size_t>(variants_[variant] - cpu::mla_variants().data())].launch(args,
                                                                                          stream);
  }

  Check check(std::size_t variant, int max_rows) override {
    // The mma variants round probabilities to bf16.
    Comparison comparison(variants_[variant]->baseline ? 4e-3 : 5e-3);
    for (const Row& row : reference(max_rows)) {
      const auto got = sets_[0].out.download(static_cast<std::size_t>(row.index * mla_latent),
                                             static_cast<std::size_t>(mla_latent));
      for (std::size_t i = 0; i < got.size(); ++i) comparison.add(to_float(got[i]), row.want[i]);
      comparison.end_row();
    }
    return comparison.result();
  }

 private:
  struct Set {
    LatentPages::Copy cache;
    Array<Bf16> q, out;
  };
  struct DevicePlan {
    DevicePlan(Device& device, const MlaPlan& plan)
        : parts(device, plan.parts),
          run_first(device, plan.run_first),
          slot_first(device, plan.slot_first),
          runs(plan.runs()),
          slots(plan.slots()) {}
    Array<MlaPart> parts;
    Array<std::int32_t> run_first, slot_first;
    int runs, slots;
  };
  struct Row {
    std::int64_t index;  // of the output
    std::vector<double> want;
  };

  int rows() const { return shape_.heads * shape_.queries; }
  std::int64_t output_rows() const {
    return static_cast<std::int64_t>(shape_.lens.size()) * rows();
  }
  MlaArgs shape_args() const {
    MlaArgs args;
    args.batch = static_cast<int>(shape_.lens.size());
    args.heads = shape_.heads;
    args.queries = shape_.queries;
    args.scale = shape_.scale;
    return args;
  }

  // Sampled rows of set 0; all variants have the same. Sequences are done in parallel: a long one
  // is most of a second's work.
  const std::vector<Row>& reference(int max_rows) {
    if (!reference_.empty() && reference_seed_ == seed_ && reference_rows_ == max_rows)
      return reference_;
    reference_.clear();
    std::map<std::size_t, std::vector<std::size_t>> by_sequence;
    for (const std::int64_t index : sample_rows(output_rows(), max_rows, seed_)) {
      by_sequence[static_cast<std::size_t>(index / rows())].push_back(reference_.size());
      reference_.push_back({index, {}});
    }
    std::vector<std::jthread> threads;
    const std::size_t most = std::max(1U, std::thread::hardware_concurrency());
    for (const auto& [sequence, places] : by_sequence) {
      if (threads.size() == most) threads.clear();
      threads.emplace_back([this, b = sequence, &places = places] {
        const int len = shape_.lens[b];
        const LatentRows cache = pages_.rows_of(b, len, tensor_seed(seed_, 0, 0));
        for (const std::size_t place : places) {
          Row& row = reference_[place];
          const auto q = noise_doubles(tensor_seed(seed_, 0, 1), row.index * mla_row,
                                       static_cast<std::size_t>(mla_row), shape_.q_scale);
          const int limit = shape_args().limit(len, static_cast<int>(row.index % rows()));
          row.want = mla_absorbed(q, cache, limit, static_cast<double>(shape_.scale));
        }
      });
    }
    threads.clear();
    reference_seed_ = seed_;
    reference_rows_ = max_rows;
    return reference_;
  }

  MlaShape shape_;
  LatentPages pages_;
  CaseInfo info_;
  std::vector<const Variant<MlaArgs>*>
      variants_;  // of the CPU's list; the GPU's has the same order
  Device* device_ = nullptr;
  int sms_ = 0;
  std::uint64_t seed_ = 0, reference_seed_ = 0;
  int reference_rows_ = 0;
  std::vector<Set> sets_;
  std::vector<DevicePlan> plans_;
  Array<float> partial_o_, partial_m_, partial_l_;
  std::vector<Row> reference_;
};

}  // namespace

std::unique_ptr<Problem> make_mla_problem(const MlaShape& shape) {
  return std::make_unique<MlaProblem>(shape);
}

}  // namespace kvsim::kernels
