#pragma once
#include <vector>

#include "memory/ledger.h"
#include "memory/options.h"
#include "spec/gpu_spec.h"
#include "spec/model_spec.h"

namespace kvsim::memory {

// What one GPU of a pipeline stage holds once the model is loaded, a line per kind of tensor: the
// model's matrices, padding that a kernel asks for, rotary tables, the drafter. Counted from
// dimensions, so each is exact up to what the description leaves out (biases, below 0.1 %). Weights
// that stay on the host (cpu_offload) come off in a line of their own, below zero.
std::vector<LedgerLine> weight_lines(const spec::ModelSpec& model, const spec::GpuSpec& gpu,
                                     const Options& options, int stage);

}  // namespace kvsim::memory
