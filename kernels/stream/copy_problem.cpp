#include <vector>

#include "kernels/host/array.h"
#include "kernels/host/compare.h"
#include "kernels/numbers/noise.h"
#include "kernels/stream/family.h"
#include "kernels/stream/stream.h"

namespace kvsim::kernels {
namespace {

// A row is one vector of 16 bytes.
class CopyProblem final : public Problem {
 public:
  explicit CopyProblem(std::int64_t bytes) : words_(bytes / 16) {
    info_ = {
        .kernel = "copy", .q_dtype = "", .kv_dtype = "", .acc_dtype = "", .shape = {{"N", bytes}}};
  }

  const CaseInfo& info() const override { return info_; }
  Floor floor() const override { return {32.0 * static_cast<double>(words_), 0, "2*N"}; }
  std::vector<VariantInfo> variants() const override {
    std::vector<VariantInfo> out;
    for (const auto& v : cpu::copy_variants())
      out.push_back({.name = v.name, .min_cc = v.min_cc, .baseline = v.baseline});
    return out;
  }
  double set_bytes() const override { return floor().bytes; }

  void prepare(Device& device, int sets, std::uint64_t seed) override {
    device_ = &device;
    std::vector<Words4> words(static_cast<std::size_t>(words_));
    for (std::size_t i = 0; i < words.size(); ++i)
      for (std::size_t j = 0; j < 4; ++j)
        words[i].word[j] = static_cast<std::uint32_t>(noise_bits(seed, 4 * i + j));
    for (int s = 0; s < sets; ++s) {
      from_.emplace_back(device, std::span<const Words4>(words));
      to_.emplace_back(device, words.size());
    }
  }
  void poison(int set) override { to_[static_cast<std::size_t>(set)].fill_bytes(0xff); }
  void launch(std::size_t variant, int set, Stream stream) override {
    const auto s = static_cast<std::size_t>(set);
    KVSIM_VARIANTS(device_->backend(), copy_variants)
    [variant].launch({from_[s].view(), to_[s].view(), words_}, stream);
  }
  Check check(std::size_t, int max_rows) override {
    Comparison comparison(0);
    for (const std::int64_t i : sample_rows(words_, max_rows, 1)) {
      const auto at = static_cast<std::size_t>(i);
      const Words4 got = to_[0].download(at, 1)[0], want = from_[0].download(at, 1)[0];
      for (std::size_t j = 0; j < 4; ++j) comparison.add(got.word[j], want.word[j]);
      comparison.end_row();
    }
    return comparison.result();
  }

 private:
  std::int64_t words_;
  CaseInfo info_;
  Device* device_ = nullptr;
  std::vector<Array<Words4>> from_, to_;
};

Problems copies(std::initializer_list<std::int64_t> sizes) {
  Problems out;
  for (const std::int64_t bytes : sizes) out.push_back(std::make_unique<CopyProblem>(bytes));
  return out;
}

}  // namespace

Problems stream_edge_cases() { return copies({0, 16, 4080, 4096, 4112, 16368, 16400, 1 << 20}); }
Problems stream_quick_cases() { return copies({1 << 16}); }
Problems stream_bench_cases() { return copies({std::int64_t{1} << 31, 1 << 26}); }

}  // namespace kvsim::kernels
