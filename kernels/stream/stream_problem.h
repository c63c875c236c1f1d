#pragma once
#include <vector>

#include "kernels/fill/fill.h"
#include "kernels/host/array.h"
#include "kernels/host/compare.h"
#include "kernels/host/problem.h"
#include "kernels/host/variants.h"

// What the problems of this family share: a size in vectors of 16 bytes and a list of variants.
namespace kvsim::kernels {

class StreamProblem : public Problem {
 public:
  StreamProblem(const char* kernel, std::int64_t bytes) : words_(bytes / 16) {
    info_ = {
        .kernel = kernel, .q_dtype = "", .kv_dtype = "", .acc_dtype = "", .shape = {{"N", bytes}}};
  }
  const CaseInfo& info() const override { return info_; }
  double set_bytes() const override { return floor().bytes; }

 protected:
  template <class Args>
  static std::vector<VariantInfo> infos(VariantList<Args> list) {
    std::vector<VariantInfo> out;
    for (const auto& v : list)
      out.push_back({.name = v.name, .min_cc = v.min_cc, .baseline = v.baseline});
    return out;
  }
  std::size_t count() const { return static_cast<std::size_t>(words_); }
  double bytes() const { return 16.0 * static_cast<double>(words_); }

  std::int64_t words_;
  CaseInfo info_;
  Device* device_ = nullptr;
  std::uint64_t seed_ = 0;
};

}  // namespace kvsim::kernels
