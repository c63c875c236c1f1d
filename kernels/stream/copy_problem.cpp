#include "kernels/stream/family.h"
#include "kernels/stream/stream.h"
#include "kernels/stream/stream_problem.h"

namespace kvsim::kernels {
namespace {

// A row is one vector of 16 bytes.
class CopyProblem final : public StreamProblem {
 public:
  CopyProblem(std::int64_t bytes, std::int64_t most_blocks)
      : StreamProblem("copy", bytes), most_blocks_(most_blocks) {}

  Floor floor() const override { return {2 * bytes(), 0, "2*N"}; }
  std::vector<VariantInfo> variants() const override { return infos(cpu::copy_variants()); }

  void prepare(Device& device, int sets, std::uint64_t seed) override {
    device_ = &device;
    for (int s = 0; s < sets; ++s) {
      from_.emplace_back(device, count());
      fill_bits(device, from_.back(), seed);
      to_.emplace_back(device, count());
    }
  }
  void poison(int set) override { to_[static_cast<std::size_t>(set)].fill_bytes(0xff); }
  void launch(std::size_t variant, int set, Stream stream) override {
    const auto s = static_cast<std::size_t>(set);
    KVSIM_VARIANTS(device_->backend(), copy_variants)
    [variant].launch({from_[s].view(), to_[s].view(), words_, most_blocks_}, stream);
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
  std::int64_t most_blocks_;
  std::vector<Array<Words4>> from_, to_;
};

}  // namespace

std::unique_ptr<Problem> make_copy(std::int64_t bytes, std::int64_t most_blocks) {
  return std::make_unique<CopyProblem>(bytes, most_blocks);
}

}  // namespace kvsim::kernels
