#pragma once
#include <functional>
#include <string>
#include <vector>

#include "kernels/bench/document.h"
#include "kernels/bench/progress.h"
#include "kernels/bench/selection.h"

// Whether variants compute what their references say.
namespace kvsim::kernels::bench {

// A result of that case and variant, with nothing measured yet.
Result result_of(const Problem& problem, const VariantInfo& variant);

// "" or why the variant cannot run on the device.
std::string unsupported_reason(const VariantInfo& variant, const Device& device);

enum class Rows {
  all,
  sampled,  // as many as a tenth of a second pays for, two at least
};

// Runs a prepared case's variant on poisoned outputs of set 0 and compares. What goes wrong, on the
// device too, is a failed result.
void check_variant(Problem& problem, std::size_t variant, Device& device, Rows rows,
                   Result& result);

// Every selected variant of every case, in order, until the deadline; those after it are
// skipped_budget.
std::vector<Result> check_cases(Problems cases, Device& device, const Selection& selection,
                                std::uint64_t seed, const Deadline& deadline);

}  // namespace kvsim::kernels::bench
