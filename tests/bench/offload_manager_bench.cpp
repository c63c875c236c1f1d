#include <benchmark/benchmark.h>

#include <vector>

#include "kv/tiers/offload_manager.h"

// Time per block of the CPU offload manager on a full pool: a chain of new blocks is stored, which
// evicts as many, then found, touched and loaded.

using namespace kvsim::kv;

namespace {

constexpr std::int64_t chain_blocks = 64;

void store_and_load(benchmark::State& state, OffloadPolicy policy) {
  OffloadManager manager({state.range(0), policy});
  OffloadManager::Store store;
  std::vector<BlockHash> keys(chain_blocks);
  std::vector<BlockId> blocks;
  BlockHash fresh = 0;
  const auto chain = [&] {
    for (BlockHash& key : keys) key = ++fresh * 0x9e3779b97f4a7c15ULL;
    if (!manager.prepare_store(keys, store)) state.SkipWithError("a store was refused");
    manager.complete_store(keys, OffloadManager::Copy::done);
  };
  while (manager.free() > 0) chain();
  for (auto _ : state) {
    chain();
    for (const BlockHash key : keys) benchmark::DoNotOptimize(manager.lookup(key));
    manager.touch(keys);
    blocks.clear();
    manager.prepare_load(keys, blocks);
    manager.complete_load(keys);
  }
  state.SetItemsProcessed(state.iterations() * chain_blocks);
}
BENCHMARK_CAPTURE(store_and_load, lru, OffloadPolicy::lru)->Arg(4096)->Arg(1 << 20);
BENCHMARK_CAPTURE(store_and_load, arc, OffloadPolicy::arc)->Arg(4096)->Arg(1 << 20);

}  // namespace
