#pragma once
#include "kernels/bench/checks.h"
#include "kernels/bench/timing.h"

// The timed matrix: which cases in which order, and the two runs of each.
namespace kvsim::kernels::bench {

// A case with those of its variants that are to be timed.
struct Job {
  std::unique_ptr<Problem> problem;
  std::vector<std::size_t> variants;
};

// Whether the variant takes part in the case.
using Wanted = std::function<bool(const CaseInfo& info, const VariantInfo& variant)>;

// The bench cases of all families in turn: first cases first, so that a short budget sees every
// kernel. Baselines are timed along with the first two cases of a family, and at the end for the
// others.
std::vector<Job> interleave(const std::vector<Problems (*)()>& families, const Wanted& wanted);

struct Card {
  Device* device = nullptr;
  Timing* timing = nullptr;
  double memory_bytes = 0;  // for buffers of cases
  double l2_bytes = 0;
  std::function<void()> sample_clocks;
  std::function<std::optional<Clocks>()> take_clocks;
};

// How many independent sets of buffers a case rotates through: three, more where they would stay in
// the L2 cache together, fewer where memory is short; 0 = not even one fits.
int sets_of(double set_bytes, const Card& card);

// Prepares as many cases as memory holds, checks them, times those that pass, and times them all
// again before the next ones, so that the two runs of a case are apart. Calls `done` with each
// result. Results that the deadline cut off are skipped_budget.
void time_jobs(std::vector<Job> jobs, const Card& card, std::uint64_t seed,
               const Deadline& deadline, const std::function<void(Result)>& done);

}  // namespace kvsim::kernels::bench
