#include <algorithm>
#include <optional>

#include "kernels/numbers/noise.h"
#include "kernels/stream/family.h"
#include "kernels/stream/stream.h"
#include "kernels/stream/stream_problem.h"

namespace kvsim::kernels {
namespace {

// Eight blocks of 256 threads fill a processor; 132 processors. One row: the sum of all words.
class ReadProblem final : public StreamProblem {
 public:
  ReadProblem(std::int64_t bytes, std::int64_t most_blocks)
      : StreamProblem("read", bytes),
        blocks_(stream_grid(words_, 256, std::min<std::int64_t>(most_blocks, 1056))) {}

  Floor floor() const override { return {bytes() + 4.0 * blocks_, 0, "N + 4*blocks"}; }
  std::vector<VariantInfo> variants() const override { return infos(cpu::read_variants()); }

  void prepare(Device& device, int sets, std::uint64_t seed) override {
    device_ = &device;
    seed_ = seed;
    for (int s = 0; s < sets; ++s) {
      from_.emplace_back(device, count());
      fill_bits(device, from_.back(), seed);
      sums_.emplace_back(device, blocks_);
    }
  }
  void poison(int set) override { sums_[static_cast<std::size_t>(set)].fill_bytes(0xff); }
  void launch(std::size_t variant, int set, Stream stream) override {
    const auto s = static_cast<std::size_t>(set);
    KVSIM_VARIANTS(device_->backend(), read_variants)
    [variant].launch({from_[s].view(), sums_[s].view(), words_, blocks_}, stream);
  }
  // The words are the noise of their index, so the sum needs no download.
  Check check(std::size_t, int) override {
    if (!want_) {
      want_ = 0;
      for (std::uint64_t i = 0; i < 4 * count(); ++i)
        *want_ += static_cast<std::uint32_t>(noise_bits(seed_, i));
    }
    std::uint32_t got = 0;
    for (const std::uint32_t sum : sums_[0].download()) got += sum;
    Comparison comparison(0);
    comparison.add(got, *want_);
    comparison.end_row();
    return comparison.result();
  }

 private:
  unsigned blocks_;
  std::optional<std::uint32_t> want_;
  std::vector<Array<Words4>> from_;
  std::vector<Array<std::uint32_t>> sums_;
};

}  // namespace

std::unique_ptr<Problem> make_read(std::int64_t bytes, std::int64_t most_blocks) {
  return std::make_unique<ReadProblem>(bytes, most_blocks);
}

}  // namespace kvsim::kernels
