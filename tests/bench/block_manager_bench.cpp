#include <benchmark/benchmark.h>

#include "kv/block_manager.h"

// Time per block operation of the vllm-v1 block manager on a full pool: every prompt is new, so
// each of its blocks is hashed, looked up or allocated, evicts an older one, is published and
// released.

using namespace kvsim::kv;

namespace {

constexpr std::int64_t block = 16, prompt_blocks = 512;

void new_prompts(benchmark::State& state) {
  BlockManager manager({state.range(0), block, true, 0.0, prompt_blocks * block});
  BlockTable table;
  TokenChain chain;
  std::uint64_t content = 0;
  for (auto _ : state) {
    chain.reset(0, 0, block);
    chain.append({++content, 0, prompt_blocks * block});
    const std::int64_t hit = manager.lookup(chain);
    const bool admitted =
        manager.admit(table, chain, hit, chain.tokens() - hit, BlockManager::FullInput::must_fit,
                      BlockManager::Others::none_running);
    if (!admitted) state.SkipWithError("a prompt was refused");
    manager.free(table);
  }
  state.SetItemsProcessed(state.iterations() * prompt_blocks);
}
BENCHMARK(new_prompts)->Arg(1024)->Arg(32768);

// The same prompt again: every block but the last is hashed, found, touched and released.
void cached_prompt(benchmark::State& state) {
  BlockManager manager({state.range(0), block, true, 0.0, prompt_blocks * block});
  BlockTable table;
  TokenChain chain;
  for (auto _ : state) {
    chain.reset(0, 0, block);
    chain.append({1, 0, prompt_blocks * block});
    const std::int64_t hit = manager.lookup(chain);
    const bool admitted =
        manager.admit(table, chain, hit, chain.tokens() - hit, BlockManager::FullInput::must_fit,
                      BlockManager::Others::none_running);
    if (!admitted) state.SkipWithError("a prompt was refused");
    manager.free(table);
  }
  state.SetItemsProcessed(state.iterations() * prompt_blocks);
}
BENCHMARK(cached_prompt)->Arg(32768);

// Exact repeats of a prompt of four whole blocks: the last block of each is published beside its
// equals. Time per repeat does not depend on how many there were.
void exact_repeats(benchmark::State& state) {
  for (auto _ : state) {
    BlockManager manager({32768, block, true, 0.0, 4 * block});
    BlockTable table;
    TokenChain chain;
    for (std::int64_t repeat = 0; repeat < state.range(0); ++repeat) {
      chain.reset(0, 0, block);
      chain.append({1, 0, 4 * block});
      const std::int64_t hit = manager.lookup(chain);
      const bool admitted =
          manager.admit(table, chain, hit, chain.tokens() - hit, BlockManager::FullInput::must_fit,
                        BlockManager::Others::none_running);
      if (!admitted) state.SkipWithError("a prompt was refused");
      manager.free(table);
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(exact_repeats)->Arg(2000)->Arg(8000)->Arg(32000);

}  // namespace
