#include <vector>

#include "kernels/quantized/decode_problem.h"
#include "kernels/quantized/family.h"
#include "kernels/quantized/quantise_problem.h"

namespace kvsim::kernels {
namespace {

constexpr KvFormat formats[] = {KvFormat::fp8, KvFormat::int8, KvFormat::int4, KvFormat::kivi2,
                                KvFormat::nvfp4};

// KIVI's pages hold whole groups.
int smallest_page(KvFormat format) { return format == KvFormat::kivi2 ? kivi_group : 16; }

void add_quantise_edges(Problems& out, KvFormat format) {
  const int page = smallest_page(format);
  const auto add = [&](QuantiseShape shape) {
    shape.format = format;
    out.push_back(quantise_problem(shape));
  };
  add({.pages = 1, .kv_heads = 1, .page = page, .count = 0});
  add({.pages = 3, .kv_heads = 2, .page = page});
  add({.pages = 2, .kv_heads = 3, .page = 64});
  if (format == KvFormat::kivi2) {
    add({.pages = 2, .kv_heads = 1, .page = 64, .first = 32, .count = 32});
  } else {
    for (const int first : {0, 7, 15})
      add({.pages = 2, .kv_heads = 2, .page = 16, .first = first, .count = 1});
    add({.pages = 2, .kv_heads = 2, .page = 64, .first = 15, .count = 34});
  }
  // Zeros; all equal; tiny; beyond f16 and e4m3; far from zero.
  add({.pages = 1, .kv_heads = 2, .page = page, .amplitude = 0});
  add({.pages = 1, .kv_heads = 2, .page = page, .amplitude = 0, .offset = 1.25F});
  add({.pages = 1, .kv_heads = 2, .page = page, .amplitude = 1e-6F});
  add({.pages = 1, .kv_heads = 2, .page = page, .amplitude = 1e6F});
  add({.pages = 1, .kv_heads = 2, .page = page, .amplitude = 0.5F, .offset = -20});
}

int residual(KvFormat format) { return format == KvFormat::kivi2 ? 64 : 0; }

void add_decode_edges(Problems& out, KvFormat format) {
  const int page = smallest_page(format);
  const auto add = [&](DecodeQuantisedShape shape) {
    shape.kv.format = format;
    if (shape.kv.residual == 0) shape.kv.residual = residual(format);
    out.push_back(decode_quantised_problem(shape));
  };
  // Lengths around pages, steps, tiles and splits; empty sequences; empty splits.
  add({{.lens = {0, 1, 15, 16, 17, 31, 32, 33}, .page = page}, 4, 1});
  add({{.lens = {63, 64, 65, 127, 128, 129, 0, 5}, .page = page}, 4, 2});
  add({{.lens = {300, 3}, .kv_heads = 2, .page = 64}, 4, 3});
  add({{.lens = {40, 200}, .page = 64}, 2, 8});
  add({{.lens = {0, 0}, .page = 64}, 2, 2});
  for (const int group : {1, 3, 7, 8, 16}) add({{.lens = {70, 33}, .page = page}, group, 2});
  // A shared prefix; all scores equal; one score far above; values that are small or large.
  add({{.lens = {100, 140, 128}, .kv_heads = 2, .page = page, .shared_tokens = 96}, 4, 2});
  add({{.lens = {100}, .page = page, .key_amplitude = 0}, 4, 2});
  add({{.lens = {100}, .page = page, .key_amplitude = 300}, 4, 2});
  add({{.lens = {100}, .page = page, .value_amplitude = 1e-2F}, 4, 2});
  add({{.lens = {100}, .page = page, .value_amplitude = 5e3F}, 4, 2});
}

}  // namespace

Problems quantized_edge_cases() {
  Problems out;
  for (const KvFormat format : formats) {
    add_quantise_edges(out, format);
    add_decode_edges(out, format);
  }
  return out;
}

Problems quantized_quick_cases() {
  Problems out;
  for (const KvFormat format : formats) {
    out.push_back(quantise_problem(
        {.format = format, .pages = 2, .kv_heads = 2, .page = smallest_page(format)}));
    out.push_back(decode_quantised_problem({{.format = format,
                                             .lens = {140, 1},
                                             .page = smallest_page(format),
                                             .residual = residual(format)},
                                            2,
                                            2}));
  }
  return out;
}

// Decode with 4 query heads per kv head: a large batch, a small one, one long sequence.
// Quantise: 4 GB, 512 MB and 64 MB of bf16. Most wanted first.
Problems quantized_bench_cases() {
  Problems out;
  const auto add_decode = [&](std::size_t batch, int len) {
    for (const KvFormat format : formats) {
      const bool kivi = format == KvFormat::kivi2;
      out.push_back(
          decode_quantised_problem({{.format = format,
                                     .lens = std::vector<int>(batch, kivi ? len + 100 : len),
                                     .kv_heads = 8,
                                     .page = kivi ? 64 : 16,
                                     .residual = kivi ? 128 : 0},
                                    4,
                                    0}));
    }
  };
  const auto add_quantise = [&](int pages) {
    for (const KvFormat format : formats)
      out.push_back(
          quantise_problem({.format = format, .pages = pages, .kv_heads = 8, .page = 64}));
  };
  add_decode(64, 8192);
  add_quantise(16384);
  add_decode(8, 8192);
  add_decode(1, 131072);
  add_quantise(2048);
  add_quantise(256);
  return out;
}

}  // namespace kvsim::kernels
