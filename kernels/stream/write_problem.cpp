#include "kernels/stream/family.h"
#include "kernels/stream/stream.h"
#include "kernels/stream/stream_problem.h"

namespace kvsim::kernels {
namespace {

// A row is one vector of 16 bytes.
class WriteProblem final : public StreamProblem {
 public:
  WriteProblem(std::int64_t bytes, std::int64_t most_blocks)
      : StreamProblem("write", bytes), most_blocks_(most_blocks) {}

  Floor floor() const override { return {bytes(), 0, "N"}; }
  std::vector<VariantInfo> variants() const override { return infos(cpu::write_variants()); }

  void prepare(Device& device, int sets, std::uint64_t seed) override {
    device_ = &device;
    seed_ = seed;
    for (int s = 0; s < sets; ++s) to_.emplace_back(device, count());
  }
  void poison(int set) override { to_[static_cast<std::size_t>(set)].fill_bytes(0xff); }
  void launch(std::size_t variant, int set, Stream stream) override {
    KVSIM_VARIANTS(device_->backend(), write_variants)
    [variant].launch({to_[static_cast<std::size_t>(set)].view(), words_, word_seed(), most_blocks_},
                     stream);
  }
  Check check(std::size_t, int max_rows) override {
    Comparison comparison(0);
    for (const std::int64_t i : sample_rows(words_, max_rows, 1)) {
      const Words4 got = to_[0].download(static_cast<std::size_t>(i), 1)[0];
      for (std::uint32_t j = 0; j < 4; ++j)
        comparison.add(got.word[j], word_seed() + 4U * static_cast<std::uint32_t>(i) + j);
      comparison.end_row();
    }
    return comparison.result();
  }

 private:
  std::uint32_t word_seed() const { return static_cast<std::uint32_t>(seed_); }

  std::int64_t most_blocks_;
  std::vector<Array<Words4>> to_;
};

}  // namespace

std::unique_ptr<Problem> make_write(std::int64_t bytes, std::int64_t most_blocks) {
  return std::make_unique<WriteProblem>(bytes, most_blocks);
}

}  // namespace kvsim::kernels
