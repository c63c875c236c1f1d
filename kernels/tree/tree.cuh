#pragma once
#include "kernels/device/kv_device.h"
#include "kernels/tree/tree.h"

namespace kvsim::kernels::KVSIM_BACKEND {

inline bool tree_supports(const MultiRowArgs& args) {
  return args.tokens <= tree_max_tokens && (args.kv.head_dim == 64 || args.kv.head_dim == 128);
}

// The naive kernel is left out where it would take seconds.
inline bool tree_naive_supports(const MultiRowArgs& args) {
  const double longest = static_cast<double>(args.kv.max_pages) * args.kv.page_tokens;
  return tree_supports(args) &&
         static_cast<double>(args.rows()) * longest <= static_cast<double>(1LL << 28);
}

inline void launch_tree(const MultiRowArgs& args, Stream stream) {
  MultiRowArgs a = args;
  a.first_partial = a.splits > 1 ? 0 : -1;
  launch_multi_row(a, stream);
  if (a.splits > 1 && a.rows() > 0) launch_merge(a.merge, stream);
}

VariantList<MultiRowArgs> tree_variants() {
  static const Variant<MultiRowArgs> list[] = {
      {"naive", 80, true, launch_multi_row_naive, tree_naive_supports},
      {"mma", 80, false, launch_tree, tree_supports},
  };
  return list;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
