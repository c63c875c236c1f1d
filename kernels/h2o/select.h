#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace kvsim::kernels {

// H2O's choice for one (sequence, kv head): the last `recent` tokens and the `heavy` ones of most
// accumulated probability among the others, the earlier token first where they are equal. Positions
// ascending; all tokens where there are no more than heavy + recent.
struct HeavyBudget {
  int heavy = 0, recent = 0;
};
std::vector<std::int32_t> select_heavy(std::span<const double> accumulated, HeavyBudget budget);
std::vector<std::int32_t> select_heavy(std::span<const float> accumulated, HeavyBudget budget);

}  // namespace kvsim::kernels
