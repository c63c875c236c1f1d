#include <array>
#include <vector>

#include "kernels/gemm/family.h"
#include "kernels/gemm/formats.h"
#include "kernels/gemm/gemm.h"
#include "kernels/host/array.h"
#include "kernels/host/compare.h"

namespace kvsim::kernels {
namespace {

template <class T>
VariantList<MmaPeakArgs> variants_on(Backend backend) {
  if constexpr (sizeof(T) == 1)
    return KVSIM_VARIANTS(backend, mma_peak_e4m3_variants);
  else
    return KVSIM_VARIANTS(backend, mma_peak_bf16_variants);
}

// The fragments as matrices. A: 16 x depth, row-major; B: 8 columns of depth, the sum of the
// chains.
template <class T>
struct Fragments {
  static constexpr std::size_t per_word = 4 / sizeof(T), depth = 8 * per_word;
  std::array<std::array<double, depth>, 16> a{};
  std::array<std::array<double, depth>, 8> b{};

  explicit Fragments(std::uint64_t seed) {
    for (std::size_t lane = 0; lane < 32; ++lane)
      for (std::size_t p = 0; p < per_word; ++p) {
        const std::size_t group = lane / 4, column = per_word * (lane % 4) + p;
        const auto value = [&](std::size_t reg) {
          return static_cast<double>(
              noise_value<T>(seed, static_cast<std::int64_t>((reg * 32 + lane) * per_word + p)));
        };
        for (std::size_t r = 0; r < 4; ++r)
          a[group + 8 * (r % 2)][4 * per_word * (r / 2) + column] = value(r);
        for (std::size_t c = 0; c < mma_peak_chains; ++c)
          for (std::size_t r = 0; r < 2; ++r)
            b[group][4 * per_word * r + column] += value(4 + 2 * c + r);
      }
  }

  double product(std::size_t row, std::size_t column) const {
    double sum = 0;
    for (std::size_t i = 0; i < depth; ++i) sum += a[row][i] * b[column][i];
    return sum;
  }
};

// A row is one thread's four sums.
template <class T>
class MmaPeakProblem final : public Problem {
 public:
  MmaPeakProblem(unsigned blocks, int rounds) : blocks_(blocks), rounds_(rounds) {
    info_ = {.kernel = "mma_peak",
             .q_dtype = MatrixFormat<T>::name,
             .kv_dtype = MatrixFormat<T>::name,
             .shape = {{"blocks", std::int64_t{blocks}}, {"rounds", std::int64_t{rounds}}}};
  }

  const CaseInfo& info() const override { return info_; }
  Floor floor() const override {
    const double warps = blocks_ * (mma_peak_threads / 32.0);
    const double per_mma = 2.0 * 16 * 8 * Fragments<T>::depth;
    return {16.0 * static_cast<double>(threads()), warps * rounds_ * mma_peak_chains * per_mma,
            "16*threads"};
  }
  std::vector<VariantInfo> variants() const override {
    std::vector<VariantInfo> out;
    for (const auto& v : variants_on<T>(Backend::cpu))
      out.push_back({.name = v.name, .min_cc = v.min_cc, .baseline = v.baseline});
    return out;
  }
  double set_bytes() const override { return floor().bytes; }

  void prepare(Device& device, int sets, std::uint64_t seed) override {
    device_ = &device;
    seed_ = seed;
    for (int s = 0; s < sets; ++s) out_.emplace_back(device, 4 * threads());
  }
  void poison(int set) override { out_[static_cast<std::size_t>(set)].fill_bytes(0xff); }
  void launch(std::size_t variant, int set, Stream stream) override {
    variants_on<T>(device_->backend())[variant].launch(
        {out_[static_cast<std::size_t>(set)].view(), seed_, rounds_, blocks_}, stream);
  }
  Check check(std::size_t, int max_rows) override {
    Comparison comparison(4e-3);
    const Fragments<T> fragments(seed_);
    const auto count = static_cast<std::int64_t>(threads());
    for (const std::int64_t thread : sample_rows(count, max_rows, seed_)) {
      const auto got = out_[0].download(4 * static_cast<std::size_t>(thread), 4);
      const std::size_t lane = static_cast<std::size_t>(thread) % 32;
      for (std::size_t i = 0; i < 4; ++i)
        comparison.add(got[i],
                       rounds_ * fragments.product(lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2));
      comparison.end_row();
    }
    return comparison.result();
  }

 private:
  std::size_t threads() const { return std::size_t{blocks_} * mma_peak_threads; }

  unsigned blocks_;
  int rounds_;
  CaseInfo info_;
  std::uint64_t seed_ = 0;
  Device* device_ = nullptr;
  std::vector<Array<float>> out_;
};

}  // namespace

std::unique_ptr<Problem> make_mma_peak(GemmFormat format, unsigned blocks, int rounds) {
  if (format == GemmFormat::e4m3) return std::make_unique<MmaPeakProblem<E4m3>>(blocks, rounds);
  return std::make_unique<MmaPeakProblem<Bf16>>(blocks, rounds);
}

}  // namespace kvsim::kernels
