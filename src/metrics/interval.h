#pragma once
#include <span>

#include "metrics/result.h"

// Intervals on the figures of a summary.
//
// Two errors are covered, each at nine cases in ten. Step times: the same traffic is simulated with
// every step at the low and at the high end of its spread; a figure's interval reaches over all
// three runs (errors of one cost model go the same way in every step, so they do not average out).
// Traffic: n seeds give n values with sample deviation s, and the figure is off from its
// expectation over seeds by Student's t(n - 1) times s. The two are independent and are added in
// quadrature on each side.
namespace kvsim::metrics {

inline constexpr double interval_level = 0.9;

// Quantile at 95 % of Student's distribution, so that nine cases in ten lie between - and +; within
// 0.2 % of the tables. degrees >= 1.
double student_t(int degrees);

// Fills `summary.low` and `summary.high`. `ends`: figures with other step times, none = no error of
// theirs. `replicates`: figures with other seeds, beside the summary's own. Ends are not negative,
// and low <= figure <= high. A figure that one of the runs lacks has no ends.
void set_bounds(Summary& summary, std::span<const Figures> ends,
                std::span<const Figures> replicates);

}  // namespace kvsim::metrics
