#include <doctest/doctest.h>

#include "kernels/attention/paged_kv.h"
#include "kernels/fill/fill.h"
#include "kernels/host/array.h"
#include "kernels/numbers/noise.h"
#include "kernels/pages/family.h"
#include "kernels/pages/pages.h"
#include "kernels/testing/run_cases.h"

using namespace kvsim::kernels;

TEST_CASE("page kernels match their reference on the edge cases and touch exactly their floor") {
  for (const auto& outcome : testing::expect_all_pass(pages_edge_cases())) {
    CAPTURE(outcome.id);
    CHECK(outcome.unique_bytes() == outcome.floor.bytes);
    CHECK(outcome.touched.total_written == outcome.touched.unique_written);
  }
}

TEST_CASE("prefetching asks for every byte of the listed pages and for no line of another page") {
  const auto device = make_cpu_device({.count_bytes = true});
  const int page_words = 48, pool_pages = 9;
  const std::vector<std::int32_t> ids{7, 2, 5};
  Array<Words4> keys(*device, page_words * pool_pages), values(*device, page_words * pool_pages);
  Array<std::int32_t> list(*device, ids);
  Array<std::uint32_t> busy(*device, prefetch_threads), sums(*device, ids.size());
  fill_bits(*device, keys, 1);
  fill_bits(*device, values, 2);
  const std::uint64_t listed = 2 * 16 * page_words * ids.size();
  const std::uint64_t wanted[] = {0, listed, listed};
  for (std::size_t v = 0; v < 3; ++v) {
    device->count_from_here();
    cpu::prefetch_variants()[v].launch(
        {keys.view(), values.view(), list.view(), busy.view(), sums.view(), 3, page_words, 1, 1},
        device->stream());
    CHECK(device->touched()->unique_prefetched == wanted[v]);
  }
}

TEST_CASE("appended rows lie where attention looks for them") {
  const auto device = make_cpu_device({});
  const int tokens = 37, heads = 3, width = 64, page_tokens = 16, pages = 4;
  const std::vector<std::int32_t> table{2, 0, 3};
  std::vector<std::int64_t> slots;
  for (int t = 0; t < tokens; ++t)
    slots.push_back(table[static_cast<std::size_t>(t / page_tokens)] * page_tokens +
                    t % page_tokens);
  Array<Bf16> fresh(*device, tokens * heads * width);
  Array<Bf16> keys(*device, pages * page_tokens * heads * width), values(*device, keys.size());
  Array<std::int64_t> where(*device, slots);
  fill_bf16(*device, fresh, 5, 1.0F);
  for (const auto& variant : cpu::append_variants()) {
    keys.fill_bytes(0xff);
    variant.launch({fresh.view(), fresh.view(), keys.view(), values.view(), where.view(), tokens,
                    heads, width, 4},
                   device->stream());
    PagedKv kv;
    kv.page_tokens = page_tokens, kv.kv_heads = heads, kv.head_dim = width;
    const auto got = keys.download(), want = fresh.download();
    int equal = 0;
    for (int t = 0; t < tokens; ++t)
      for (int h = 0; h < heads; ++h)
        for (int i = 0; i < width; ++i) {
          const auto at =
              kv.row(table[static_cast<std::size_t>(t / page_tokens)], h, t % page_tokens) + i;
          equal += got[static_cast<std::size_t>(at)].bits ==
                           want[static_cast<std::size_t>((t * heads + h) * width + i)].bits
                       ? 1
                       : 0;
        }
    CHECK(equal == tokens * heads * width);
  }
}

TEST_CASE("pages that were gathered and scattered back leave the pool as it was") {
  const auto device = make_cpu_device({});
  const std::vector<std::int32_t> ids{3, 0, 4};
  const int page_words = 300;
  Array<Words4> pool(*device, 5 * page_words);
  auto host = Array<Words4>::pinned(*device, ids.size() * page_words);
  Array<std::int32_t> list(*device, ids);
  fill_bits(*device, pool, 9);
  const auto before = pool.download();
  const MovePagesArgs args{pool.view(), host.view(), list.view(), 3, page_words};
  for (std::size_t v = 0; v < cpu::gather_variants().size(); ++v) {
    cpu::gather_variants()[v].launch(args, device->stream());
    for (const auto id : ids)
      device->fill((pool.view() + std::int64_t{id} * page_words).address, 0, 16 * page_words);
    cpu::scatter_variants()[v].launch(args, device->stream());
    const auto after = pool.download();
    bool same = true;
    for (std::size_t w = 0; w < before.size(); ++w)
      for (int j = 0; j < 4; ++j) same = same && before[w].word[j] == after[w].word[j];
    CHECK(same);
  }
}

TEST_SUITE("quick") {
  TEST_CASE("page kernels pass their quick cases under permuted schedules") {
    for (const std::uint64_t seed : testing::schedule_seeds())
      testing::expect_all_pass(pages_quick_cases(), {.schedule_seed = seed});
  }
}
