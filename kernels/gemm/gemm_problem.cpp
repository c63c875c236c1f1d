#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "kernels/gemm/cublaslt.h"
#include "kernels/gemm/family.h"
#include "kernels/gemm/formats.h"
#include "kernels/gemm/gemm.h"
#include "kernels/host/array.h"
#include "kernels/host/compare.h"
#include "kernels/host/launch_record.h"

namespace kvsim::kernels {
namespace {

template <class T>
VariantList<GemmArgs<T>> variants_on(Backend backend) {
  if constexpr (sizeof(T) == 1)
    return KVSIM_VARIANTS(backend, gemm_e4m3_variants);
  else
    return KVSIM_VARIANTS(backend, gemm_bf16_variants);
}

// Columns of a checked row: all of a narrow C, else some of them, the first and the last included.
constexpr int checked_columns = 256;

template <class T>
class GemmProblem final : public Problem {
 public:
  explicit GemmProblem(const GemmShape& shape)
      : m_(shape.m), n_(shape.n), k_(shape.k), scale_(1 / std::sqrt(static_cast<float>(shape.k))) {
    info_ = {.kernel = "gemm",
             .q_dtype = MatrixFormat<T>::name,
             .kv_dtype = MatrixFormat<T>::name,
             .shape = {{"M", m_}, {"N", n_}, {"K", k_}}};
    const auto all = variants_on<T>(Backend::cpu);
    for (std::size_t v = 0; v < all.size(); ++v)
      if (all[v].supports == nullptr || all[v].supports(args(0))) offered_.push_back(v);
  }

  const CaseInfo& info() const override { return info_; }
  Floor floor() const override {
    const auto m = static_cast<double>(m_), n = static_cast<double>(n_),
               k = static_cast<double>(k_);
    return {(m * k + n * k) * sizeof(T) + 2 * m * n, 2 * m * n * k,
            sizeof(T) == 1 ? "M*K + N*K + 2*M*N" : "2*(M*K + N*K + M*N)"};
  }
  std::vector<VariantInfo> variants() const override {
    const auto all = variants_on<T>(Backend::cpu);
    std::vector<VariantInfo> out;
    for (const std::size_t v : offered_)
      out.push_back({.name = all[v].name, .min_cc = all[v].min_cc, .baseline = all[v].baseline});
    out.push_back({.name = "cublaslt", .min_cc = sizeof(T) == 1 ? 89 : 80, .cpu = false});
    return out;
  }
  double set_bytes() const override { return floor().bytes; }

  void prepare(Device& device, int sets, std::uint64_t seed) override {
    device_ = &device;
    seed_ = seed;
    for (int s = 0; s < sets; ++s) {
      a_.push_back(noise_matrix<T>(device, m_ * k_, a_seed()));
      b_.push_back(noise_matrix<T>(device, n_ * k_, b_seed()));
      c_.emplace_back(device, static_cast<std::size_t>(m_ * n_));
    }
    if (device.backend() == Backend::gpu)
      library_.emplace(
          device, CublasLtProblem{
                      .bytes_per_element = static_cast<int>(sizeof(T)), .m = m_, .n = n_, .k = k_});
  }
  void poison(int set) override { c_[static_cast<std::size_t>(set)].fill_bytes(0xff); }
  void launch(std::size_t variant, int set, Stream stream) override {
    if (variant < offered_.size())
      return variants_on<T>(device_->backend())[offered_[variant]].launch(args(set), stream);
    if (!library_) throw Unsupported("cuBLASLt runs on a GPU only");
    const GemmArgs<T> a = args(set);
    library_->multiply(a.a.address, a.b.address, a.c.address, scale_, stream);
  }

  Check check(std::size_t, int max_rows) override {
    Comparison comparison(4e-3);
    const auto columns = sample_rows(n_, checked_columns, seed_ + 1);
    std::vector<std::vector<float>> b;
    for (const std::int64_t column : columns) b.push_back(factor(b_seed(), column));
    for (const std::int64_t row : sample_rows(m_, max_rows, seed_)) {
      const auto got =
          c_[0].download(static_cast<std::size_t>(row * n_), static_cast<std::size_t>(n_));
      const std::vector<float> a = factor(a_seed(), row);
      for (std::size_t j = 0; j < columns.size(); ++j)
        comparison.add(to_float(got[static_cast<std::size_t>(columns[j])]), product(a, b[j]));
      comparison.end_row();
    }
    return comparison.result();
  }

 private:
  std::uint64_t a_seed() const { return 2 * seed_; }
  std::uint64_t b_seed() const { return 2 * seed_ + 1; }

  GemmArgs<T> args(int set) const {
    GemmArgs<T> out{.m = static_cast<int>(m_),
                    .n = static_cast<int>(n_),
                    .k = static_cast<int>(k_),
                    .scale = scale_};
    const auto s = static_cast<std::size_t>(set);
    if (s < a_.size()) out.a = a_[s].view(), out.b = b_[s].view(), out.c = c_[s].view();
    return out;
  }

  // A row of A or B.
  std::vector<float> factor(std::uint64_t seed, std::int64_t row) const {
    std::vector<float> out(static_cast<std::size_t>(k_));
    for (std::int64_t i = 0; i < k_; ++i)
      out[static_cast<std::size_t>(i)] = noise_value<T>(seed, row * k_ + i);
    return out;
  }

  double product(const std::vector<float>& a, const std::vector<float>& b) const {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return static_cast<double>(scale_) * sum;
  }

  std::int64_t m_, n_, k_;
  float scale_;
  CaseInfo info_;
  std::vector<std::size_t> offered_;  // places of the variants in the backend's list
  std::uint64_t seed_ = 0;
  Device* device_ = nullptr;
  std::vector<Array<T>> a_, b_;
  std::vector<Array<Bf16>> c_;
  std::optional<CublasLt> library_;
};

}  // namespace

std::unique_ptr<Problem> make_gemm(GemmFormat format, const GemmShape& shape) {
  if (format == GemmFormat::e4m3) return std::make_unique<GemmProblem<E4m3>>(shape);
  return std::make_unique<GemmProblem<Bf16>>(shape);
}

}  // namespace kvsim::kernels
