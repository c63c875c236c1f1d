#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kvformat/footprint.h"
#include "memory/options.h"
#include "spec/model_spec.h"
#include "units/units.h"

// How vLLM cuts KV memory into blocks: layers of one kind in groups of equal size, all groups on
// one pool of blocks of one page size (docs/explanation/memory-ledger.md).
namespace kvsim::memory {

// Layers that share a block table. A block of the pool holds `block_tokens` tokens of each of the
// group's layers.
struct KvGroup {
  std::string name;
  spec::AttentionKind attention = spec::AttentionKind::full;
  int model_group = 0;
  std::int64_t layers = 0;  // real layers; the rest up to the group size is padding
  std::int64_t block_tokens = 16;
  std::int64_t window = 0;  // window or chunk; 0 = none
  double block_bytes = 0;   // of all its layers, where groups have pools of their own
};

struct KvLayout {
  std::vector<KvGroup> groups;
  std::int64_t group_size = 0;    // layers that a block spans
  std::int64_t block_tokens = 0;  // of the attention groups (the smallest where they differ)
  Bytes block_bytes;
  std::int64_t padding_layers = 0;
  double padding_waste = 0;       // of the kind that is padded most: padding over its layers
  double state_page_padding = 0;  // what a recurrent state's page has beyond the state
  // False for sequence compression: pages of several sizes, a pool for each. What one request takes
  // is then counted in bytes, and a block is block_tokens of its growing part.
  bool one_pool = true;

  // Blocks that one request of `tokens` tokens needs at most, over all groups.
  std::int64_t blocks_for(std::int64_t tokens) const;
  // Blocks that a request holds while it decodes: windows without the tokens in flight of a long
  // prefill, which the check at the start and the printed concurrency count in.
  std::int64_t held_blocks(std::int64_t tokens) const;
  double held_bytes(std::int64_t tokens) const;
  // The same in bytes; with pools of their own each group counts its own blocks.
  double bytes_for(std::int64_t tokens) const;
  std::int64_t in_flight_tokens = 0;  // scheduled beyond the settled ones: widen a window's need
  std::int64_t state_blocks = 1;      // held per recurrent group
  bool all_states = false;            // a state per block of the sequence besides

 private:
  std::int64_t blocks_of(const KvGroup& group, std::int64_t tokens, std::int64_t in_flight) const;
  std::int64_t blocks(std::int64_t tokens, std::int64_t in_flight) const;
  double bytes(std::int64_t tokens, std::int64_t in_flight) const;
};

KvLayout make_layout(const spec::ModelSpec& model, const kvformat::Footprint& footprint,
                     const Options& options);

}  // namespace kvsim::memory
