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

}  // namespace

Problems quantized_edge_cases() {
  Problems out;
  for (const KvFormat format : formats) add_quantise_edges(out, format);
  return out;
}

Problems quantized_quick_cases() {
  Problems out;
  for (const KvFormat format : formats)
    out.push_back(quantise_problem(
        {.format = format, .pages = 2, .kv_heads = 2, .page = smallest_page(format)}));
  return out;
}

// Bytes of bf16 keys and values: 4 GB, 512 MB and 64 MB.
Problems quantized_bench_cases() {
  Problems out;
  for (const int pages : {16384, 2048, 256})
    for (const KvFormat format : formats)
      out.push_back(
          quantise_problem({.format = format, .pages = pages, .kv_heads = 8, .page = 64}));
  return out;
}

}  // namespace kvsim::kernels
