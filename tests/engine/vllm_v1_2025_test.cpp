#include <doctest/doctest.h>

#include "engine/small_world.h"

using namespace kvsim;
using kvsim::testing::SmallWorld;

namespace {

using Counts = std::map<std::string, std::int64_t>;

enum class Caching { on, off };

// What five prompts of 100,000 tokens do to a pool that holds two and a half.
struct Thrash {
  Thrash(const char* profile, bool gate, Caching caching, std::int64_t threshold = 0) {
    engine::SchedulerLimits l;
    l.max_num_seqs = 256;
    l.max_num_batched_tokens = 8192;
    l.max_model_len = 131072;
    l.long_prefill_token_threshold = threshold;
    l.enable_prefix_caching = caching == Caching::on;
    l.num_blocks = 1 + 250'000 / 16;
    l.reserve_full_input = gate;
    SmallWorld w(profile, l);
    for (int i = 0; i < 5; ++i) w.submit("r" + std::to_string(i), 100'000, 400);
    w.run_all();
    CHECK(w.completed() == 5);
    for (const auto& step : w.steps) {
      preemptions += static_cast<std::int64_t>(step.preempted.size());
      lost += step.lost;
      for (const auto& [id, tokens] : step.scheduled) computed += tokens;
    }
  }
  std::int64_t preemptions = 0, lost = 0, computed = 0;
  // Each prompt once, and each output but the last, which is never computed.
  static constexpr std::int64_t once = 5 * (100'000 + 399);
};

}  // namespace

TEST_SUITE("engine/vllm_v1_2025") {
  TEST_CASE("in 2025 a request was admitted on its first chunk") {
    for (const char* profile : {"vllm-v1", "vllm-v1-2025"}) {
      engine::SchedulerLimits l;
      l.max_num_seqs = 8;
      l.max_num_batched_tokens = 64;
      l.max_model_len = 1024;
      l.num_blocks = 17;
      SmallWorld w(profile, l);
      w.submit("r0", 100, 8);
      w.submit("r1", 160, 4);
      w.step();
      const bool first_chunk = profile == std::string("vllm-v1-2025");
      CHECK(w.step().scheduled ==
            (first_chunk ? Counts{{"r0", 36}, {"r1", 28}} : Counts{{"r0", 36}}));
    }
  }

  TEST_CASE("in 2025 a partly filled block was not taken again before the cached ones") {
    // Three usable blocks. r0 leaves two hashed ones and a partial one before them.
    for (const char* profile : {"vllm-v1", "vllm-v1-2025"}) {
      engine::SchedulerLimits l;
      l.max_num_seqs = 8;
      l.max_num_batched_tokens = 256;
      l.max_model_len = 1024;
      l.num_blocks = 4;
      SmallWorld w(profile, l);
      workload::RequestSpec r0 = testing::small_request("r0", 0, 40, 1);
      w.submit(r0);
      w.step();
      w.submit(testing::small_request("other", 1, 10, 1));
      w.step();
      workload::RequestSpec again = testing::small_request("again", 2, 40, 1);
      again.prompt = testing::small_request("r0", 2, 40, 1).prompt;
      w.submit(again);
      const Counts hits = w.step().hits;
      CHECK(hits == Counts{{"again", 32}});
      // The partial block of the third goes behind the cached ones, so that the fourth takes one.
      w.submit(testing::small_request("third", 3, 10, 1));
      w.step();
      w.submit(testing::small_request("fourth", 4, 10, 1));
      w.step();
      again.id = "last", again.index = 5;
      w.submit(again);
      CHECK(w.step().hits ==
            (profile == std::string("vllm-v1") ? Counts{{"last", 32}} : Counts{{"last", 16}}));
    }
  }

  TEST_CASE("admission on the first chunk makes a long prompt start over again and again") {
    const Thrash gated("vllm-v1", true, Caching::off);
    CHECK(gated.preemptions == 0);
    CHECK(gated.computed == Thrash::once);
    for (const Thrash& open :
         {Thrash("vllm-v1", false, Caching::off), Thrash("vllm-v1-2025", false, Caching::off)}) {
      CHECK(open.preemptions > 50);
      CHECK(open.lost > 50 * 40'000);
      CHECK(open.computed == Thrash::once + open.lost);
    }
  }

  TEST_CASE("with prefix caching a prompt that was preempted waits for the rest of its blocks") {
    const Thrash open("vllm-v1-2025", false, Caching::on);
    CHECK(open.preemptions > 0);
    CHECK(open.preemptions < 10);
    CHECK(open.computed < Thrash::once + 10'000);
    CHECK(Thrash("vllm-v1", true, Caching::on).preemptions == 0);
  }

  TEST_CASE("the gate does not count what prompts that are under way still need") {
    const Thrash gated("vllm-v1", true, Caching::off, 2048);
    CHECK(gated.preemptions > 0);
    const Thrash open("vllm-v1-2025", false, Caching::off, 2048);
    CHECK(open.preemptions > gated.preemptions);
  }
}
