#include <algorithm>

#include "kernels/decode/decode_problem.h"
#include "kernels/decode/family.h"

namespace kvsim::kernels {
namespace {

Problems problems(const std::vector<DecodeShape>& shapes) {
  Problems out;
  for (const DecodeShape& shape : shapes) out.push_back(make_decode_problem(shape));
  return out;
}

// `batch` sequences of one length with 128 columns in pages of 16.
KvShape uniform(int batch, int len, int kv_heads, int page_tokens = 16) {
  return {.lens = std::vector<int>(static_cast<std::size_t>(batch), len),
          .kv_heads = kv_heads,
          .page_tokens = page_tokens};
}

constexpr double gigabytes = 1e9;

}  // namespace

Problems decode_edge_cases() {
  std::vector<DecodeShape> out;
  const auto add = [&](DecodeShape shape, const char* lens) {
    shape.lens = lens;
    out.push_back(std::move(shape));
  };
  // Lengths around pages, tiles and splits, in one ragged batch; empty splits in most of them.
  const std::vector<int> around{0, 1, 15, 16, 17, 63, 64, 65, 127, 128, 129};
  add({.kv = {.lens = around, .kv_heads = 1}, .splits = 2, .blocks = 3}, "around-16");
  add({.kv = {.lens = {0, 1, 63, 64, 65, 130}, .kv_heads = 2, .page_tokens = 64},
       .splits = 3,
       .blocks = 4},
      "around-64");
  add({.kv = {.lens = {127, 128, 129, 1}, .kv_heads = 1, .page_tokens = 128},
       .splits = 2,
       .blocks = 2},
      "around-128");
  add({.kv = {.lens = {0, 1, 2, 17, 70}, .kv_heads = 2, .page_tokens = 1},
       .splits = 2,
       .blocks = 2},
      "around-1");
  add({.kv = {.lens = {0, 1, 63, 65, 129}, .kv_heads = 2, .page_tokens = 0},
       .splits = 2,
       .blocks = 5},
      "around-tile");
  for (const int page : {0, 1, 16, 64, 128})
    add({.kv = {.lens = {70, 0, 16}, .kv_heads = 2, .head_dim = 64, .page_tokens = page},
         .splits = 2,
         .blocks = 2},
        "ragged");
  for (const int group : {1, 3, 7, 8, 16})
    add({.kv = {.lens = {70, 5}, .kv_heads = 1}, .group = group, .splits = 2, .blocks = 1},
        "ragged");
  add({.kv = {.lens = {64, 100}, .kv_heads = 1}, .splits = 9, .blocks = 9}, "splits-beyond-tiles");
  add({.kv = {.lens = {777, 3, 5, 1, 20, 64, 2, 9}, .kv_heads = 1}, .splits = 4, .blocks = 3},
      "one-long");
  add({.kv = {.lens = {100, 90, 48, 20}, .kv_heads = 1, .shared_tokens = 48},
       .splits = 2,
       .blocks = 2},
      "aliased");
  add({.kv = {.lens = {100, 33}, .kv_heads = 1, .key_scale = 0}, .splits = 2}, "equal-scores");
  add({.kv = {.lens = {100, 33}, .kv_heads = 1}, .scale = 1e-4F, .splits = 2}, "scale-tiny");
  add({.kv = {.lens = {100, 33}, .kv_heads = 1}, .scale = 4.0F, .splits = 2}, "scale-large");
  add({.kv = {.lens = {100, 33}, .kv_heads = 1, .key_scale = 1e3F, .value_scale = 1e-3F},
       .splits = 2},
      "keys-large");
  for (const int window : {1, 16, 63, 64, 65, 100})
    add({.kv = {.lens = {0, 1, 64, 100, 200}, .kv_heads = 1},
         .window = window,
         .splits = 2,
         .blocks = 2},
        "ragged");
  add({.kv = {.lens = {90, 200}, .kv_heads = 1, .page_tokens = 1}, .window = 70, .splits = 2},
      "ragged");
  return problems(out);
}

// Four tiles of 64 tokens and more in a split, so that a ring of three stages is filled again.
Problems decode_quick_cases() {
  return problems({
      {.kv = {.lens = {600, 0, 33}, .kv_heads = 1}, .splits = 2, .blocks = 2, .lens = "ragged"},
      {.kv = {.lens = {450}, .kv_heads = 1, .head_dim = 64, .page_tokens = 1},
       .group = 7,
       .splits = 2,
       .blocks = 1,
       .lens = "ragged"},
      {.kv = {.lens = {300}, .kv_heads = 1, .page_tokens = 0},
       .group = 1,
       .window = 200,
       .splits = 1,
       .blocks = 1,
       .lens = "ragged"},
  });
}

Problems decode_bench_cases() {
  std::vector<DecodeShape> out;
  const auto add = [&](DecodeShape shape) {
    const double bytes = make_decode_problem(shape)->set_bytes();
    if (bytes <= 8 * gigabytes) out.push_back(std::move(shape));
  };
  struct Heads {
    int group, kv_heads;
  };
  constexpr Heads llama{4, 8};
  // The shapes that say most come first: large, then one per page size, then the matrix.
  add({.kv = uniform(8, 32768, llama.kv_heads), .group = llama.group});
  add({.kv = uniform(64, 8192, llama.kv_heads), .group = llama.group});
  add({.kv = uniform(1, 2048, llama.kv_heads), .group = llama.group});
  for (const int page : {0, 1, 64, 128})
    add({.kv = uniform(8, 32768, llama.kv_heads, page), .group = llama.group});
  KvShape skewed = uniform(64, 1024, llama.kv_heads);
  skewed.lens[0] = 131072;
  add({.kv = skewed, .group = llama.group, .lens = "skewed"});
  for (const int window : {1024, 4096})
    add({.kv = uniform(32, 32768, llama.kv_heads), .group = llama.group, .window = window});
  const std::size_t before = out.size();
  for (const Heads heads : {llama, Heads{8, 8}, Heads{16, 8}, Heads{1, 32}})
    for (const int batch : {8, 64, 1})
      for (const int len : {8192, 32768, 2048, 131072}) {
        const auto known = [&](const DecodeShape& s) {
          return s.kv.lens.size() == static_cast<std::size_t>(batch) && s.kv.lens[0] == len &&
                 s.group == heads.group && s.kv.page_tokens == 16 && s.window == 0 &&
                 s.lens.empty();
        };
        if (std::none_of(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(before), known))
          add({.kv = uniform(batch, len, heads.kv_heads), .group = heads.group});
      }
  KvShape narrow = uniform(64, 8192, 8);
  narrow.head_dim = 64;
  add({.kv = narrow, .group = 8});
  return problems(out);
}

}  // namespace kvsim::kernels
