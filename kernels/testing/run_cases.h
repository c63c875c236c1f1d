#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/host/problem.h"

// Runs cases of a family under the executor, for tests.
namespace kvsim::kernels::testing {

// 0, which is the order of the lanes' numbers, and three drawn once per program. They are printed:
// with KVSIM_SEED set to the number that is named, the same three are drawn again.
const std::vector<std::uint64_t>& schedule_seeds();

struct Options {
  std::uint64_t schedule_seed = 0;
  std::uint64_t data_seed = 7;
  bool count_bytes = true;
};

// What one variant did at one case, outputs poisoned before and all rows checked after.
struct Outcome {
  std::string id;
  Floor floor;
  Check check;
  Touched touched;  // zeros without count_bytes

  // Distinct bytes read and distinct bytes written, what a floor is compared with.
  double unique_bytes() const {
    return static_cast<double>(touched.unique_read + touched.unique_written);
  }
};
std::vector<Outcome> run_cases(Problems cases, const Options& options = {});

// run_cases, and a doctest CHECK that every outcome passed, with its id and figures.
std::vector<Outcome> expect_all_pass(Problems cases, const Options& options = {});
// The same for a single case.
std::vector<Outcome> run_one(std::unique_ptr<Problem> problem, const Options& options = {});

}  // namespace kvsim::kernels::testing
