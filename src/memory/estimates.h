#pragma once
#include "memory/options.h"
#include "spec/gpu_spec.h"
#include "spec/model_spec.h"
#include "units/units.h"

// The parts of the ledger that an engine measures by running: ours are estimates, each from a
// closed form whose constant comes from public start-up reports.
namespace kvsim::memory {

// Peak of activations in a dummy run at max_num_batched_tokens: the widest layer's intermediates,
// or the sampler's work on max_num_seqs rows of logits, whichever is larger.
Bytes activation_estimate(const spec::ModelSpec& model, const Options& options);

// Memory outside the tensor allocator: libraries, NCCL buffers, custom all-reduce; TensorRT-LLM's
// runtime and workspaces.
Bytes non_torch_estimate(const spec::GpuSpec& gpu, const Options& options);

// CUDA graphs for the captured batch sizes.
Bytes graph_estimate(const spec::ModelSpec& model, const spec::GpuSpec& gpu,
                     const Options& options);

}  // namespace kvsim::memory
