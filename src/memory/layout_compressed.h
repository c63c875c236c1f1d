#pragma once
#include "memory/layout.h"

namespace kvsim::memory {

// Sequence-compressed models (DeepSeek-V4): every layer has an uncompressed window; compressed
// entries, the indexer's entries and the compressor's per-token state lie in groups of their own,
// each in pages of its size. Windows and states grow with the tokens in flight before the ones that
// left the window are given back, which is what a start with a long chunk is refused for.
// The groups follow the model's description; padding between page sizes is not modelled (the one
// public refusal that prints the need, vllm-44376, asks for 1.29 times as much at both of its
// lengths).
KvLayout compressed_layout(const spec::ModelSpec& model, const kvformat::Footprint& footprint,
                           const Options& options);

}  // namespace kvsim::memory
