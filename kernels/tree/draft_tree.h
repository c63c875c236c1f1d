#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

// Trees of draft tokens. A token's parent comes before it; a token without one (-1) follows the
// prefix directly.
namespace kvsim::kernels {

enum class TreeKind {
  chain,   // each token follows the one before: a causal mask
  star,    // all follow the first
  binary,  // a full binary tree, level by level
  random,  // any earlier token or the prefix, another tree per sequence; bits beyond the tree set
  blind,   // tokens that see no draft token, not even themselves
};
std::string_view name_of(TreeKind kind);

// The parents of the tokens of sequence `sequence`.
std::vector<int> tree_parents(TreeKind kind, int tokens, int sequence);

// Bit j of entry i: token i sees token j, which is itself or an ancestor.
std::vector<std::uint64_t> ancestor_bits(const std::vector<int>& parents);
// ancestor_bits of a kind, with what the kind says beyond its parents.
std::vector<std::uint64_t> tree_mask(TreeKind kind, int tokens, int sequence);

// The tokens from the prefix to `token`, both ends of the path included.
std::vector<int> root_path(const std::vector<int>& parents, int token);

}  // namespace kvsim::kernels
