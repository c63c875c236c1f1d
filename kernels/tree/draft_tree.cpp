#include "kernels/tree/draft_tree.h"

#include <algorithm>

#include "kernels/numbers/noise.h"

namespace kvsim::kernels {

std::string_view name_of(TreeKind kind) {
  switch (kind) {
    case TreeKind::chain:
      return "chain";
    case TreeKind::star:
      return "star";
    case TreeKind::binary:
      return "binary";
    case TreeKind::random:
      return "random";
    case TreeKind::blind:
      return "blind";
  }
  return "";
}

std::vector<int> tree_parents(TreeKind kind, int tokens, int sequence) {
  std::vector<int> out;
  for (int i = 0; i < tokens; ++i) {
    const std::uint64_t bits =
        noise_bits(static_cast<std::uint64_t>(sequence), static_cast<std::uint64_t>(i));
    switch (kind) {
      case TreeKind::chain:
        out.push_back(i - 1);
        break;
      case TreeKind::star:
        out.push_back(i == 0 ? -1 : 0);
        break;
      case TreeKind::binary:
        out.push_back(i == 0 ? -1 : (i - 1) / 2);
        break;
      case TreeKind::random:
        out.push_back(static_cast<int>(bits % static_cast<std::uint64_t>(i + 1)) - 1);
        break;
      case TreeKind::blind:
        out.push_back(-1);
        break;
    }
  }
  return out;
}

std::vector<std::uint64_t> ancestor_bits(const std::vector<int>& parents) {
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    const int parent = parents[i];
    const std::uint64_t above = parent < 0 ? 0 : out[static_cast<std::size_t>(parent)];
    out.push_back(above | std::uint64_t{1} << i);
  }
  return out;
}

std::vector<std::uint64_t> tree_mask(TreeKind kind, int tokens, int sequence) {
  auto out = ancestor_bits(tree_parents(kind, tokens, sequence));
  for (std::uint64_t& bits : out) {
    if (kind == TreeKind::blind) bits = 0;
    if (kind == TreeKind::random && tokens < 64) bits |= ~std::uint64_t{0} << tokens;
  }
  return out;
}

std::vector<int> root_path(const std::vector<int>& parents, int token) {
  std::vector<int> path;
  for (; token >= 0; token = parents[static_cast<std::size_t>(token)]) path.push_back(token);
  std::ranges::reverse(path);
  return path;
}

}  // namespace kvsim::kernels
