#pragma once
#include <vector>

#include "kvformat/footprint.h"
#include "memory/estimates.h"
#include "memory/ledger.h"
#include "memory/options.h"
#include "spec/weights.h"

namespace kvsim::memory {

// One pipeline stage before its KV is sized.
struct Stage {
  int index = 0;
  kvformat::Footprint footprint;
  std::vector<LedgerLine> weights;  // a line per kind, the drafter's and the tables' among them
  Bytes weight_bytes;
  Estimate activation, non_torch, graphs;
};

Stage measure_stage(const spec::ModelSpec& model, const spec::GpuSpec& gpu, const Options& options,
                    int index);

// Adds the stage's weights to the ledger.
void add_weights(Ledger& ledger, const Stage& stage);

}  // namespace kvsim::memory
