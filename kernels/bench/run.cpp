#include "kernels/bench/run.h"

#include <algorithm>

namespace kvsim::kernels::bench {

void note_not_reached(std::size_t unlisted, const Deadline& deadline, Document& document) {
  const auto listed = std::ranges::count(document.results, Status::skipped_budget, &Result::status);
  document.not_reached = unlisted + static_cast<std::size_t>(listed);
  if (document.not_reached == 0) return;
  document.notes.push_back(std::to_string(document.not_reached) +
                           " cases were not reached: " + deadline.cause() + ".");
}

}  // namespace kvsim::kernels::bench
