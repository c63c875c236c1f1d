#include "kernels/simt/executor.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <thread>

#include "kernels/numbers/noise.h"
#include "kernels/simt/block_runner.h"
#include "kernels/simt/fault.h"
#include "kernels/simt/sanitizers.h"

namespace kvsim::simt {
namespace {

// The order in which blocks start: as numbered, or permuted by the seed.
std::vector<std::uint64_t> block_order(std::uint64_t blocks, std::uint64_t seed) {
  std::vector<std::uint64_t> order(blocks);
  std::iota(order.begin(), order.end(), 0U);
  if (seed != 0)
    for (std::uint64_t i = blocks; i > 1; --i)
      std::swap(order[i - 1], order[kernels::noise_bits(seed, i) % i]);
  return order;
}

}  // namespace

Executor::Executor(const Config& config) : config_(config) {
  const bool tsan = sanitizers::thread_sanitizer();
  if (tsan || config_.count_bytes || config_.workers < 1) config_.workers = 1;
  const int runners = tsan ? 2 : config_.workers;
  for (int i = 0; i < runners; ++i) runners_.push_back(std::make_unique<BlockRunner>());
}

Executor::~Executor() = default;

void Executor::run(Index3 grid, unsigned threads, unsigned shared_bytes, Body body,
                   const void* args) {
  if (threads == 0 || threads > max_threads)
    throw Fault("a launch of " + std::to_string(threads) + " threads per block: 1 to " +
                std::to_string(max_threads) + " are possible");
  const std::uint64_t blocks = static_cast<std::uint64_t>(grid.x) * grid.y * grid.z;
  const std::uint64_t launch_seed =
      config_.seed == 0 ? 0 : kernels::noise_bits(config_.seed, ++launches_) | 1U;
  const std::vector<std::uint64_t> order = block_order(blocks, launch_seed);
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> stop{false};
  std::exception_ptr first;
  std::mutex mutex;

  const auto work = [&](std::size_t runner, std::size_t runners) {
    try {
      for (std::uint64_t i = next++; i < blocks && !stop; i = next++) {
        const std::uint64_t b = order[i];
        const Index3 index{static_cast<unsigned>(b % grid.x),
                           static_cast<unsigned>(b / grid.x % grid.y),
                           static_cast<unsigned>(b / grid.x / grid.y)};
        runners_[runner + i % runners]->run(
            {grid, index, threads, shared_bytes, body, args,
             launch_seed == 0 ? 0 : kernels::noise_bits(launch_seed, b) | 1U, accounting()});
      }
    } catch (...) {
      stop = true;
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
    }
  };
  if (config_.workers == 1 || blocks < 2) {
    work(0, config_.workers == 1 ? runners_.size() : 1);
  } else {
    std::vector<std::jthread> threads_;
    for (std::size_t w = 0; w < runners_.size(); ++w)
      threads_.emplace_back([&work, w] { work(w, 1); });
  }
  lane_switches_ = 0;
  for (const auto& runner : runners_) {
    runner->acquire_results();
    lane_switches_ += runner->switches();
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace kvsim::simt
