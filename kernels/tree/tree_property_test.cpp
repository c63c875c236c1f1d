#include <doctest/doctest.h>

#include <algorithm>
#include <string_view>

#include "kernels/attention/kv_cache.h"
#include "kernels/decode/decode.h"
#include "kernels/host/compare.h"
#include "kernels/prefill/prefill.h"
#include "kernels/tree/draft_tree.h"
#include "kernels/tree/tree.h"

// The tree kernels against the other families' kernels over the same tokens.
using namespace kvsim::kernels;

namespace {

constexpr int kv_heads = 2, group = 2, dim = 128;
constexpr float scale = 0.0883883F;

using Rows = std::vector<Bf16>;

std::size_t at(int index) { return static_cast<std::size_t>(index); }

void append_row(Rows& to, const Rows& from, int row) {
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(row) * dim;
  to.insert(to.end(), begin, begin + dim);
}

// One sequence: a prefix, and drafts whose keys and values lie as tree kernels want them.
struct Tokens {
  int prefix, drafts;
  Rows q = noise_bf16(1, std::int64_t{drafts} * kv_heads * group * dim);
  Rows prefix_keys = noise_bf16(2, std::int64_t{prefix} * kv_heads * dim);  // [kv head][token]
  Rows prefix_values = noise_bf16(3, std::int64_t{prefix} * kv_heads * dim);
  Rows draft_keys = noise_bf16(4, std::int64_t{drafts} * kv_heads * dim);  // [token][kv head]
  Rows draft_values = noise_bf16(5, std::int64_t{drafts} * kv_heads * dim);

  int rows() const { return drafts * kv_heads * group; }

  // Contiguous [kv head][prefix, then the drafts of `path`, then repeats up to every draft].
  void append_path(Rows& keys, Rows& values, const std::vector<int>& path) const {
    for (int h = 0; h < kv_heads; ++h) {
      for (int t = 0; t < prefix; ++t) {
        append_row(keys, prefix_keys, h * prefix + t);
        append_row(values, prefix_values, h * prefix + t);
      }
      for (int i = 0; i < drafts; ++i) {
        const int t = path[at(std::min(i, static_cast<int>(path.size()) - 1))];
        append_row(keys, draft_keys, t * kv_heads + h);
        append_row(values, draft_values, t * kv_heads + h);
      }
    }
  }
};

// Outputs of every variant of a family, by what `args_of` makes of the arrays.
struct Run {
  std::unique_ptr<Device> device = make_cpu_device({});
  Array<Bf16> upload(const Rows& rows) const { return {*device, std::span<const Bf16>(rows)}; }
};

PagedKv contiguous(const Array<Bf16>& keys, const Array<Bf16>& values,
                   const Array<std::int32_t>& lens, int tokens) {
  return {.keys = keys.view(),
          .values = values.view(),
          .table = {},
          .lens = lens.view(),
          .max_pages = 1,
          .page_tokens = tokens,
          .kv_heads = kv_heads,
          .head_dim = dim};
}

Rows tree_outputs(const Tokens& tokens, const std::vector<std::uint64_t>& mask,
                  std::size_t variant) {
  const Run run;
  const auto q = run.upload(tokens.q), keys = run.upload(tokens.prefix_keys),
             values = run.upload(tokens.prefix_values), draft_keys = run.upload(tokens.draft_keys),
             draft_values = run.upload(tokens.draft_values);
  const Array<std::int32_t> lens(*run.device, std::vector<std::int32_t>{tokens.prefix});
  const Array<std::uint64_t> bits(*run.device, mask);
  const Array<Bf16> out(*run.device, tokens.q.size());
  MultiRowArgs args;
  args.q = q.view();
  args.kv = contiguous(keys, values, lens, tokens.prefix);
  args.scale = scale;
  args.sequences = 1, args.tokens = tokens.drafts, args.heads_per_group = group;
  args.draft = {draft_keys.view(), draft_values.view(), bits.view()};
  args.merge = merge_of_rows(args.rows(), 1, dim);
  args.merge.out = out.view();
  cpu::tree_variants()[variant].launch(args, run.device->stream());
  return out.download();
}

Rows prefill_outputs(const Tokens& tokens, std::size_t variant) {
  const Run run;
  std::vector<int> all;
  for (int t = 0; t < tokens.drafts; ++t) all.push_back(t);
  Rows host_keys, host_values;
  tokens.append_path(host_keys, host_values, all);
  const int len = tokens.prefix + tokens.drafts;
  const auto q = run.upload(tokens.q), keys = run.upload(host_keys),
             values = run.upload(host_values);
  const Array<std::int32_t> lens(*run.device, std::vector<std::int32_t>{len}),
      q_start(*run.device, std::vector<std::int32_t>{0, tokens.drafts});
  const Array<Bf16> out(*run.device, tokens.q.size());
  const PrefillArgs args{.q = q.view(),
                         .kv = contiguous(keys, values, lens, len),
                         .log_page = contiguous_kv,
                         .q_start = q_start.view(),
                         .out = out.view(),
                         .lse = {},
                         .sequences = 1,
                         .q_heads = kv_heads * group,
                         .max_q_len = tokens.drafts,
                         .mask = Mask::causal,
                         .scale = scale};
  cpu::prefill_variants()[variant].launch(args, run.device->stream());
  return out.download();
}

// Each draft token as the last one of a sequence of its own: the prefix and its root path.
Rows decode_outputs(const Tokens& tokens, const std::vector<int>& parents, std::size_t variant) {
  const Run run;
  Rows host_keys, host_values;
  std::vector<std::int32_t> host_lens;
  for (int t = 0; t < tokens.drafts; ++t) {
    const auto path = root_path(parents, t);
    tokens.append_path(host_keys, host_values, path);
    host_lens.push_back(tokens.prefix + static_cast<int>(path.size()));
  }
  const auto q = run.upload(tokens.q), keys = run.upload(host_keys),
             values = run.upload(host_values);
  const Array<std::int32_t> lens(*run.device, host_lens);
  const Array<Bf16> out(*run.device, tokens.q.size());
  DecodeArgs args;
  args.q = q.view();
  args.kv = contiguous(keys, values, lens, tokens.prefix + tokens.drafts);
  args.scale = scale;
  args.merge.groups = tokens.drafts * kv_heads;
  args.merge.kv_heads = kv_heads;
  args.merge.heads_per_group = group;
  args.merge.value_dim = dim;
  args.merge.out = out.view();
  cpu::decode_variants()[variant].launch(args, run.device->stream());
  return out.download();
}

template <class List>
std::size_t variant_named(const List& list, std::string_view name) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name) return i;
  FAIL("no variant " << name);
  return 0;
}

void check_same(const Rows& got, const Rows& want) {
  Comparison comparison(5e-3);
  for (std::size_t i = 0; i < got.size(); ++i)
    comparison.add(static_cast<double>(to_float(got[i])), static_cast<double>(to_float(want[i])));
  const Check check = comparison.result();
  CAPTURE(check.rel_l2);
  CHECK(check.passed());
}

}  // namespace

TEST_CASE("a chain of drafts gives what causal prefill of the same tokens gives") {
  for (const int drafts : {1, 16, 63, 64})
    for (const int prefix : {1, 33}) {
      CAPTURE(drafts);
      CAPTURE(prefix);
      const Tokens tokens{prefix, drafts};
      const auto mask = tree_mask(TreeKind::chain, drafts, 0);
      const auto list = cpu::prefill_variants();
      const Rows want = prefill_outputs(tokens, variant_named(list, "naive"));
      check_same(prefill_outputs(tokens, variant_named(list, "mma_flash")), want);
      for (std::size_t v = 0; v < cpu::tree_variants().size(); ++v)
        check_same(tree_outputs(tokens, mask, v), want);
    }
}

TEST_CASE("a row of a tree gives what plain decode of its root path gives") {
  for (const TreeKind kind : {TreeKind::star, TreeKind::binary, TreeKind::random}) {
    CAPTURE(name_of(kind));
    const Tokens tokens{33, 31};
    const auto parents = tree_parents(kind, tokens.drafts, 0);
    const auto list = cpu::decode_variants();
    for (const char* name : {"simt_nosplit", "mma_split"}) {
      const Rows want = decode_outputs(tokens, parents, variant_named(list, name));
      for (std::size_t v = 0; v < cpu::tree_variants().size(); ++v)
        check_same(tree_outputs(tokens, ancestor_bits(parents), v), want);
    }
  }
}
