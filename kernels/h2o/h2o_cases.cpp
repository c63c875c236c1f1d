#include "kernels/h2o/family.h"

namespace kvsim::kernels {

Problems h2o_edge_cases() {
  Problems out;
  const auto decode = [&](const H2oShape& shape) { out.push_back(make_h2o_decode(shape)); };
  // Around a warp's tile, a page, a split; splits without tokens; one long among short ones.
  decode({.lens = {0, 1, 15, 16, 17, 63}, .kv_heads = 1, .heads_per_group = 4, .split_tokens = 64});
  decode(
      {.lens = {64, 65, 127, 128, 129}, .kv_heads = 1, .heads_per_group = 3, .split_tokens = 64});
  decode({.lens = {300, 2, 0, 5}, .kv_heads = 2, .heads_per_group = 1, .split_tokens = 128});
  decode(
      {.lens = {70, 33}, .kv_heads = 2, .heads_per_group = 8, .head_dim = 64, .page_tokens = 64});
  decode({.lens = {40, 21}, .kv_heads = 1, .heads_per_group = 16, .page_tokens = 1});
  decode({.lens = {66}, .kv_heads = 2, .heads_per_group = 7, .page_tokens = 0});
  decode({.lens = {90, 75, 80}, .kv_heads = 1, .split_tokens = 64, .shared_tokens = 48});
  decode({.lens = {130}, .kv_heads = 1, .split_tokens = 64, .key_scale = 0});
  decode({.lens = {130}, .kv_heads = 1, .split_tokens = 64, .key_scale = 12});
  decode({.lens = {0, 0}, .kv_heads = 2});
  const auto compact = [&](const CompactShape& shape) { out.push_back(make_compact(shape)); };
  compact({.lens = {0, 1, 15, 16, 17, 200}, .kv_heads = 3, .heavy = 12, .recent = 4});
  compact({.lens = {100, 31},
           .kv_heads = 2,
           .head_dim = 64,
           .page_tokens = 1,
           .heavy = 9,
           .recent = 0});
  compact({.lens = {70, 70}, .kv_heads = 1, .page_tokens = 64, .heavy = 0, .recent = 65});
  compact({.lens = {70, 33}, .kv_heads = 2, .heavy = 50, .recent = 50});
  compact({.lens = {20}, .kv_heads = 2, .heavy = 0, .recent = 0});
  return out;
}

Problems h2o_quick_cases() {
  Problems out;
  // Five steps of each warp: more than the ring holds. Then a split without tokens.
  out.push_back(make_h2o_decode({.lens = {300}, .kv_heads = 1, .split_tokens = 320}));
  out.push_back(
      make_h2o_decode({.lens = {75, 20}, .kv_heads = 1, .head_dim = 64, .split_tokens = 64}));
  out.push_back(make_compact({.lens = {60, 9}, .kv_heads = 2, .heavy = 10, .recent = 10}));
  return out;
}

// H2O keeps a fifth: a tenth of heavy hitters and a tenth of recent tokens.
Problems h2o_bench_cases() {
  Problems out;
  const auto decode = [&](int batch, int len) {
    out.push_back(
        make_h2o_decode({.lens = std::vector<int>(static_cast<std::size_t>(batch), len)}));
  };
  decode(8, 32768);
  out.push_back(make_compact(
      {.lens = std::vector<int>(8, 32768), .heavy = 32768 / 10, .recent = 32768 / 10}));
  decode(1, 131072);
  decode(64, 2048);
  return out;
}

}  // namespace kvsim::kernels
