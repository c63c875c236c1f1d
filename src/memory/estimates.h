#pragma once
#include <string>

#include "memory/options.h"
#include "spec/gpu_spec.h"
#include "spec/model_spec.h"
#include "units/units.h"

// The parts of the ledger that an engine measures by running: ours are closed forms whose constants
// come from public start-up reports (docs/explanation/memory-ledger.md). Per GPU, for options that
// are filled in.
namespace kvsim::memory {

struct Estimate {
  Bytes bytes;
  Bytes uncertainty;  // plus or minus, about one standard deviation
  std::string note;   // what it is made of
};

// Peak of one dummy run. Its parts do not overlap in time, so the largest is the peak.
struct ProfileRun {
  Bytes layers;    // the widest layer's intermediates beside the residual stream
  Bytes sampler;   // logits, their float32 copy, sorted values and indices
  Bytes encoder;   // one image of the largest size through the vision tower, outputs kept
  Bytes unpacked;  // a 4-bit matrix unpacked to 16 bits, beside the layers
  Bytes kept;      // the encoder's outputs, held through the rest of the run
  std::int64_t tokens = 0, sequences = 0;
  double logit_bytes = 0;
  Estimate peak() const;
};
// The last pipeline stage samples.
ProfileRun profile_run(const spec::ModelSpec& model, const Options& options, int stage);

// Memory outside the tensor allocator: libraries, NCCL buffers, custom all-reduce, for SGLang the
// CUDA context too; before vLLM 0.6.4 what the allocator had reserved beyond its peak.
Estimate non_torch_estimate(const spec::GpuSpec& gpu, const Options& options);

// CUDA graphs for the captured batch sizes.
Estimate graph_estimate(const spec::ModelSpec& model, const spec::GpuSpec& gpu,
                        const Options& options, int stage);

}  // namespace kvsim::memory
