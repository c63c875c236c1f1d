#pragma once
#include "kvformat/footprint.h"
#include "memory/ledger.h"
#include "memory/options.h"
#include "spec/weights.h"

namespace kvsim::memory {

// One pipeline stage before its KV is sized.
struct Stage {
  int index = 0;
  kvformat::Footprint footprint;
  Bytes weights, activation, non_torch, graphs;
};

Stage measure_stage(const spec::ModelSpec& model, const spec::GpuSpec& gpu, const Options& options,
                    int index);

// Adds the weights to the ledger, a line per kind.
void add_weights(Ledger& ledger, const spec::ModelSpec& model, const Options& options,
                 const Stage& stage);

}  // namespace kvsim::memory
