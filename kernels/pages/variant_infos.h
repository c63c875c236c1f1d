#pragma once
#include <vector>

#include "kernels/host/problem.h"
#include "kernels/host/variants.h"

namespace kvsim::kernels {

template <class Args>
std::vector<VariantInfo> variant_infos(VariantList<Args> list, int kernels = 1) {
  std::vector<VariantInfo> out;
  for (const auto& v : list)
    out.push_back({.name = v.name, .min_cc = v.min_cc, .baseline = v.baseline, .kernels = kernels});
  return out;
}

}  // namespace kvsim::kernels
