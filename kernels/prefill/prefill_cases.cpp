#include <vector>

#include "kernels/prefill/family.h"

namespace kvsim::kernels {
namespace {

struct Heads {
  int kv = 1, group = 1, dim = 128;
};

PrefillShape shape_of(std::vector<int> q_lens, std::vector<int> kv_lens, const Heads& heads,
                      int page, Mask mask = Mask::causal) {
  PrefillShape shape;
  shape.q_lens = std::move(q_lens);
  shape.kv.lens = std::move(kv_lens);
  shape.kv.kv_heads = heads.kv;
  shape.kv.head_dim = heads.dim;
  shape.kv.page_tokens = page;
  shape.group = heads.group;
  shape.mask = mask;
  return shape;
}

// Whole prompts, or chunks of `q_len` at the end of `kv_len` tokens.
void add_bench(Problems& out, int sequences, int q_len, int kv_len, const Heads& heads, int page,
               Mask mask = Mask::causal) {
  const auto count = static_cast<std::size_t>(sequences);
  out.push_back(make_prefill(shape_of(std::vector<int>(count, q_len),
                                      std::vector<int>(count, kv_len), heads, page, mask)));
}

}  // namespace

Problems prefill_edge_cases() {
  std::vector<PrefillShape> shapes = {
      // Tile edges of queries and tokens, one sequence.
      shape_of({1}, {1}, {1, 1, 64}, 0),
      shape_of({63}, {63}, {1, 1, 128}, 0),
      shape_of({64}, {64}, {1, 4, 64}, 16),
      shape_of({65}, {65}, {1, 1, 128}, 16),
      shape_of({129}, {129}, {1, 1, 64}, 0, Mask::none),
      // Chunks: fewer queries than tokens, lengths off every tile.
      shape_of({1}, {130}, {2, 7, 128}, 16),
      shape_of({3}, {64}, {1, 4, 128}, 0),
      shape_of({65}, {193}, {1, 1, 128}, 64),
      shape_of({17}, {127}, {1, 7, 64}, 0, Mask::none),
      // More queries than tokens: the first see nothing under the causal mask.
      shape_of({70}, {5}, {1, 1, 64}, 16),
      // Many sequences, one of them empty, and pages of one token.
      shape_of({5, 0, 64, 1, 130}, {17, 0, 64, 100, 131}, {1, 4, 64}, 16),
      shape_of({33, 2}, {33, 90}, {1, 1, 128}, 1),
      shape_of({33, 2}, {40, 15}, {2, 1, 64}, 0, Mask::none),
  };
  // A prefix in pages that sequences share, and pages larger than a tile.
  PrefillShape shared = shape_of({20, 31}, {84, 95}, {1, 1, 64}, 32);
  shared.kv.shared_tokens = 64;
  shapes.push_back(shared);
  shapes.push_back(shape_of({40}, {140}, {1, 1, 64}, 128));
  // All scores equal, and scores so large that one token takes all.
  PrefillShape equal = shape_of({66}, {66}, {1, 1, 64}, 16);
  equal.kv.key_scale = 0;
  shapes.push_back(equal);
  PrefillShape steep = shape_of({66}, {66}, {1, 1, 64}, 0);
  steep.kv.key_scale = 100, steep.kv.value_scale = 1e-3F;
  shapes.push_back(steep);

  Problems out;
  for (PrefillShape& shape : shapes) out.push_back(make_prefill(std::move(shape)));
  return out;
}

// Three tiles and more, so that their places in shared memory are taken again.
Problems prefill_quick_cases() {
  Problems out;
  out.push_back(make_prefill(shape_of({65}, {150}, {1, 1, 64}, 16)));
  out.push_back(make_prefill(shape_of({9}, {135}, {1, 1, 128}, 0)));
  return out;
}

Problems prefill_bench_cases() {
  const Heads gqa{8, 4, 128};
  Problems out;
  for (const int length : {2048, 8192, 16384}) add_bench(out, 1, length, length, gqa, 0);
  add_bench(out, 1, 8192, 8192, gqa, 16);
  add_bench(out, 1, 512, 8192, gqa, 16);
  add_bench(out, 4, 2048, 2048, gqa, 16);
  add_bench(out, 1, 8192, 8192, {8, 8, 128}, 0);
  add_bench(out, 1, 8192, 8192, {8, 4, 64}, 0);
  add_bench(out, 1, 8192, 8192, gqa, 0, Mask::none);
  add_bench(out, 1, 2048, 32768, gqa, 16);
  return out;
}

}  // namespace kvsim::kernels
