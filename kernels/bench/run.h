#pragma once
#include "kernels/bench/document.h"
#include "kernels/bench/options.h"
#include "kernels/bench/progress.h"
#include "kernels/bench/timing.h"

namespace kvsim::kernels::bench {

// Counts the results that the deadline cut off, and as many more that are no results, and says so
// in the document's notes.
void note_not_reached(std::size_t unlisted, const Deadline& deadline, Document& document);

// Every variant of the quick cases (and, unless quick, of the edge cases) under the executor:
// errors and bytes touched, no times.
void run_cpu(const Options& options, Document& document, Deadline& deadline);

// Ceilings, checks of the edge and quick cases, then the timed matrix.
void run_gpu(Device& device, Timing& timing, const Options& options, Document& document,
             Deadline& deadline);

}  // namespace kvsim::kernels::bench
