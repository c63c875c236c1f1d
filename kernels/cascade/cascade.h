#pragma once
#include "kernels/attention/multi_row.h"
#include "kernels/host/variants.h"

namespace kvsim::kernels {

// Decode of sequences that share their first tokens: the pages of these are the same in every
// sequence's table.
struct CascadeArgs {
  // One query per sequence over all its tokens, `splits` partials per row where nothing is shared.
  MultiRowArgs whole;
  // Every sequence has at least these tokens in common. The rows of all sequences together have
  // prefix_splits partials from there, and each suffix_splits more from its own tokens.
  int prefix_tokens = 0;
  int prefix_splits = 1, suffix_splits = 1;
};

namespace cpu {
VariantList<CascadeArgs> cascade_variants();
}
namespace gpu {
VariantList<CascadeArgs> cascade_variants();
}

}  // namespace kvsim::kernels
