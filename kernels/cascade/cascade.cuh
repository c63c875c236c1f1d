#pragma once
#include "kernels/cascade/cascade.h"
#include "kernels/device/kv_device.h"

namespace kvsim::kernels::KVSIM_BACKEND {

inline bool cascade_supports(const CascadeArgs& args) {
  return args.whole.kv.head_dim == 64 || args.whole.kv.head_dim == 128;
}

// The naive kernel is left out where it would take seconds.
inline bool cascade_naive_supports(const CascadeArgs& args) {
  const double longest = static_cast<double>(args.whole.kv.max_pages) * args.whole.kv.page_tokens;
  return cascade_supports(args) &&
         static_cast<double>(args.whole.rows()) * longest <= static_cast<double>(1LL << 28);
}

inline void launch_unshared(const CascadeArgs& args, Stream stream) {
  MultiRowArgs a = args.whole;
  a.first_partial = a.splits > 1 ? 0 : -1;
  a.merge.splits = a.splits;
  launch_multi_row(a, stream);
  if (a.splits > 1 && a.rows() > 0) launch_merge(a.merge, stream);
}

// The rows of all sequences against the prefix as if they were tokens of the first sequence, then
// each sequence's rows against what is its own, then the merge of both.
inline void launch_cascade(const CascadeArgs& args, Stream stream) {
  MultiRowArgs suffix = args.whole;
  suffix.first_token = args.prefix_tokens;
  suffix.splits = args.suffix_splits;
  suffix.first_partial = 0;
  if (args.prefix_tokens > 0) {
    MultiRowArgs prefix = args.whole;
    prefix.tokens = args.whole.sequences;
    prefix.sequences = prefix.tokens > 0 ? 1 : 0;
    prefix.end_token = args.prefix_tokens;
    prefix.splits = args.prefix_splits;
    prefix.first_partial = 0;
    launch_multi_row(prefix, stream);
    suffix.first_partial = args.prefix_splits;
  } else if (args.suffix_splits == 1) {
    suffix.first_partial = -1;
  }
  launch_multi_row(suffix, stream);
  if (suffix.first_partial < 0 || suffix.rows() == 0) return;
  suffix.merge.splits = suffix.first_partial + args.suffix_splits;
  launch_merge(suffix.merge, stream);
}

VariantList<CascadeArgs> cascade_variants() {
  static const Variant<CascadeArgs> list[] = {
      {"naive", 80, true,
       [](const CascadeArgs& a, Stream s) { launch_multi_row_naive(a.whole, s); },
       cascade_naive_supports},
      {"mma_unshared", 80, true, launch_unshared, cascade_supports},
      {"mma_cascade", 80, false, launch_cascade, cascade_supports},
  };
  return list;
}

}  // namespace kvsim::kernels::KVSIM_BACKEND
