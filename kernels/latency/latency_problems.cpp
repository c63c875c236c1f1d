#include <algorithm>
#include <vector>

#include "kernels/host/compare.h"
#include "kernels/latency/chase.h"
#include "kernels/latency/family.h"
#include "kernels/latency/latency.h"

namespace kvsim::kernels {
namespace {

CaseInfo info_of(const char* kernel, std::vector<std::pair<std::string, ShapeValue>> shape) {
  return {
      .kernel = kernel, .q_dtype = "", .kv_dtype = "", .acc_dtype = "", .shape = std::move(shape)};
}

template <class Args>
std::vector<VariantInfo> infos(VariantList<Args> list) {
  std::vector<VariantInfo> out;
  for (const auto& v : list) out.push_back({.name = v.name, .min_cc = v.min_cc});
  return out;
}

// One row: where the walk ended.
class ChaseProblem final : public Problem {
 public:
  ChaseProblem(std::int64_t bytes, int steps)
      : bytes_(bytes),
        steps_(steps),
        info_(info_of("pointer_chase", {{"N", bytes}, {"steps", std::int64_t{steps}}})) {}

  const CaseInfo& info() const override { return info_; }
  Floor floor() const override {
    const double lines = static_cast<double>(bytes_) / (4 * chase_line_words);
    return {4 * std::min<double>(steps_, lines) + 12, 0, "4*min(steps, N/128) + 12"};
  }
  std::vector<VariantInfo> variants() const override { return infos(cpu::chase_variants()); }
  double set_bytes() const override { return static_cast<double>(bytes_); }

  void prepare(Device& device, int sets, std::uint64_t) override {
    for (int s = 0; s < sets; ++s) chases_.emplace_back(device, bytes_);
  }
  void poison(int set) override { chases_[static_cast<std::size_t>(set)].forget_position(); }
  void launch(std::size_t, int set, Stream stream) override {
    chases_[static_cast<std::size_t>(set)].walk(steps_, stream);
  }
  Check check(std::size_t, int) override {
    const auto [first, last] = chases_[0].ends();
    Comparison comparison(0);
    std::uint32_t want = first;
    for (int s = 0; s < steps_; ++s) want = chase_successor(want, chases_[0].lines());
    comparison.add(last, want);
    comparison.end_row();
    Check out = comparison.result();
    if (first >= chases_[0].lines()) out.note = "the walk began outside the buffer";
    return out;
  }

 private:
  std::int64_t bytes_;
  int steps_;
  CaseInfo info_;
  std::vector<PointerChase> chases_;
};

// Nothing to compare: it must start and end.
class EmptyProblem final : public Problem {
 public:
  explicit EmptyProblem(const EmptyArgs& args)
      : args_(args),
        info_(info_of("empty", {{"blocks", std::int64_t{args.blocks}},
                                {"threads", std::int64_t{args.threads}}})) {}

  const CaseInfo& info() const override { return info_; }
  Floor floor() const override { return {0, 0, "0"}; }
  std::vector<VariantInfo> variants() const override { return infos(cpu::empty_variants()); }
  double set_bytes() const override { return 0; }
  void prepare(Device& device, int, std::uint64_t) override { device_ = &device; }
  void poison(int) override {}
  void launch(std::size_t variant, int, Stream stream) override {
    KVSIM_VARIANTS(device_->backend(), empty_variants)[variant].launch(args_, stream);
  }
  Check check(std::size_t, int) override {
    device_->synchronize();
    return {};
  }

 private:
  EmptyArgs args_;
  CaseInfo info_;
  Device* device_ = nullptr;
};

}  // namespace

std::unique_ptr<Problem> make_pointer_chase(std::int64_t bytes, int steps) {
  return std::make_unique<ChaseProblem>(bytes, steps);
}
std::unique_ptr<Problem> make_empty(unsigned blocks, unsigned threads) {
  return std::make_unique<EmptyProblem>(EmptyArgs{blocks, threads});
}

Problems latency_edge_cases() {
  Problems out;
  for (const std::int64_t bytes : {128, 256, 4096, 1 << 20})
    for (const int steps : {0, 1, 31, 100, 9000}) out.push_back(make_pointer_chase(bytes, steps));
  out.push_back(make_empty(1, 1));
  out.push_back(make_empty(3, 1024));
  return out;
}

Problems latency_quick_cases() {
  Problems out;
  out.push_back(make_pointer_chase(1 << 14, 300));
  out.push_back(make_empty(2, 64));
  return out;
}

Problems latency_bench_cases() {
  Problems out;
  out.push_back(make_pointer_chase(std::int64_t{1} << 31, 2048));
  out.push_back(make_empty(1, 32));
  out.push_back(make_empty(1056, 256));
  return out;
}

}  // namespace kvsim::kernels
