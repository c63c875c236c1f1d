#pragma once
#include "kernels/attention/multi_row.h"
#include "kernels/host/variants.h"

namespace kvsim::kernels {

constexpr int tree_max_tokens = multi_row_tile;  // the bits of a token's ancestors

// Verification of a tree of draft tokens: MultiRowArgs with a draft, at most tree_max_tokens tokens
// per sequence, and merge.splits = splits.
namespace cpu {
VariantList<MultiRowArgs> tree_variants();
}
namespace gpu {
VariantList<MultiRowArgs> tree_variants();
}

}  // namespace kvsim::kernels
