#include <benchmark/benchmark.h>

#include <cstdint>

#include "kv/radix/hierarchical_tree.h"
#include "kv/radix/radix_tree.h"
#include "kv/radix/window_tree.h"

// Time per operation of SGLang's prefix trees when they hold so many prompts, each a span of its
// own behind one of a thousand shared ones. Page 16.

using namespace kvsim::kv;

namespace {

constexpr std::int64_t page = 16, shared_tokens = 512, own_tokens = 256;

// Prompt i; an odd multiplier spreads consecutive numbers over the contents.
const RadixKey& prompt(RadixKey& key, std::int64_t i) {
  const auto own = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ULL;
  key.clear(0);
  key.append({static_cast<std::uint64_t>(i % 1000) + 1, 0, shared_tokens});
  key.append({own, 0, own_tokens});
  return key;
}

// The i-th of a sequence that jumps through [0, n).
std::int64_t jump(std::int64_t i, std::int64_t n) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(i) * 2654435761ULL %
                                   static_cast<std::uint64_t>(n));
}

RadixTree filled(std::int64_t prompts) {
  RadixTree tree({page, RadixEviction::lru, KeyUnit::token});
  RadixKey key;
  for (std::int64_t i = 0; i < prompts; ++i) tree.insert(prompt(key, i).view());
  return tree;
}

void sglang_radix_match(benchmark::State& state) {
  RadixTree tree = filled(state.range(0));
  RadixKey key;
  std::int64_t i = 0;
  for (auto _ : state)
    benchmark::DoNotOptimize(tree.match(prompt(key, jump(++i, state.range(0))).view()));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(sglang_radix_match)->Arg(1000)->Arg(1000000);

void sglang_radix_lock(benchmark::State& state) {
  RadixTree tree = filled(state.range(0));
  RadixKey key;
  const NodeId node = tree.match(prompt(key, state.range(0) / 2).view()).node;
  for (auto _ : state) {
    tree.lock(node);
    tree.unlock(node);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(sglang_radix_lock)->Arg(1000000);

// A full cache: every prompt is new, and one that nobody used for long has to go.
void sglang_radix_insert_evict(benchmark::State& state) {
  RadixTree tree = filled(state.range(0));
  RadixKey key;
  std::int64_t i = state.range(0);
  for (auto _ : state) {
    tree.insert(prompt(key, ++i).view());
    tree.evict(own_tokens);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(sglang_radix_insert_evict)->Arg(1000)->Arg(1000000);

// The same where half of the prompts are used again between evictions, so that most keys in the
// heap are too old.
void sglang_radix_churn(benchmark::State& state) {
  RadixTree tree = filled(state.range(0));
  RadixKey key;
  std::int64_t i = state.range(0), j = 0;
  for (auto _ : state) {
    for (int again = 0; again < 4; ++again)
      benchmark::DoNotOptimize(tree.match(prompt(key, jump(++j, state.range(0))).view()));
    tree.insert(prompt(key, ++i).view());
    tree.evict(own_tokens);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(sglang_radix_churn)->Arg(1000000);

// Insert, copy to the host, acknowledge, evict from both pools.
void sglang_hicache_insert_evict(benchmark::State& state) {
  const std::int64_t host = (2 * state.range(0) + 2000) * own_tokens;
  HierarchicalTree tree(
      {{page, RadixEviction::lru, KeyUnit::token}, HostWrite::write_through, host});
  RadixKey key;
  std::int64_t i = 0;
  const auto step = [&] {
    tree.insert(prompt(key, ++i).view());
    tree.ack_writes(2);
  };
  while (i < state.range(0)) step();
  for (auto _ : state) {
    step();
    tree.evict(own_tokens);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(sglang_hicache_insert_evict)->Arg(1000000);

void sglang_swaradix_insert_evict(benchmark::State& state) {
  WindowTree tree({page, 128, LeafSplit::on_insert});
  RadixKey key;
  std::int64_t i = 0;
  while (i < state.range(0)) tree.insert(prompt(key, ++i).view());
  for (auto _ : state) {
    tree.insert(prompt(key, ++i).view());
    tree.evict(own_tokens, own_tokens);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(sglang_swaradix_insert_evict)->Arg(1000000);

}  // namespace
