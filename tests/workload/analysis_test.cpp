#include <doctest/doctest.h>

#include <algorithm>
#include <list>
#include <vector>

#include "random/stream.h"
#include "workload/analysis/reuse_distance.h"
#include "workload/analysis/trace_info.h"
#include "workload/shared_data.h"
#include "workload/text.h"

using namespace kvsim;
using namespace kvsim::workload;

namespace {

// A cache of so many blocks, as plainly as it can be written.
class NaiveLru {
 public:
  explicit NaiveLru(std::size_t capacity) : capacity_(capacity) {}
  std::int64_t look_up(const std::vector<BlockKey>& prompt) const {
    std::int64_t found = 0;
    for (const BlockKey& block : prompt) {
      if (std::ranges::find(blocks_, block.key) == blocks_.end()) break;
      ++found;
    }
    return found;
  }
  void touch(const std::vector<BlockKey>& prompt) {
    for (const BlockKey& block : prompt) {
      blocks_.remove(block.key);
      blocks_.push_back(block.key);
      if (blocks_.size() > capacity_) blocks_.pop_front();
    }
  }

 private:
  std::size_t capacity_;
  std::list<std::uint64_t> blocks_;  // least recently used first
};

// Prompts that share prefixes in a tree.
std::vector<std::vector<BlockKey>> random_prompts(std::uint64_t seed, int count) {
  std::vector<std::vector<BlockKey>> prompts;
  for (int i = 0; i < count; ++i) {
    random::Stream draw(seed, "prompts", static_cast<std::uint64_t>(i));
    std::vector<Span> spans;
    for (std::int64_t depth = draw.uniform_integer(1, 6); depth > 0; --depth)
      append_span(spans, {static_cast<std::uint64_t>(draw.uniform_integer(1, 3)), 0,
                          draw.uniform_integer(1, 3) * 8});
    block_keys(spans, 0, 8, prompts.emplace_back());
  }
  return prompts;
}

TraceInfo info_of(const std::string& file, std::vector<std::int64_t> capacities = {}) {
  TraceOptions options;
  options.file = file;
  Trace trace = load_trace(options);
  InfoOptions info;
  info.block_tokens = trace.format == "mooncake" ? 512 : 16;
  info.is_request_list = false;
  info.has_times = trace.has_times;
  info.capacities = std::move(capacities);
  return trace_info(*trace.source, info);
}

}  // namespace

TEST_SUITE("workload/analysis") {
  TEST_CASE("one pass over reuse distances agrees with a simulated cache at every capacity") {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const auto prompts = random_prompts(seed, 400);
      ReuseDistances all;
      std::vector<NaiveLru> caches;
      std::vector<std::int64_t> found(40, 0);
      for (std::size_t c = 0; c < found.size(); ++c) caches.emplace_back(c + 1);
      for (const auto& prompt : prompts) {
        all.look_up(prompt);
        all.touch(prompt);
        for (std::size_t c = 0; c < caches.size(); ++c) {
          found[c] += caches[c].look_up(prompt);
          caches[c].touch(prompt);
        }
      }
      CHECK(all.found(0) == 0);
      for (std::size_t c = 0; c < caches.size(); ++c)
        CHECK(all.found(static_cast<std::int64_t>(c + 1)) == found[c]);
      CHECK(all.found(1'000'000) == all.found_unlimited());
    }
  }

  TEST_CASE("a block is named by its whole prefix and by the salt") {
    std::vector<BlockKey> a, b, c, salted;
    block_keys({{1, 0, 40}}, 0, 16, a);
    block_keys({{1, 0, 20}, {2, 0, 20}}, 0, 16, b);
    block_keys({{2, 0, 16}, {1, 16, 24}}, 0, 16, c);
    block_keys({{1, 0, 40}}, 7, 16, salted);
    REQUIRE(a.size() == 3);
    CHECK(a[2].tokens == 8);
    CHECK(a[0].key == b[0].key);
    CHECK(a[1].key != b[1].key);
    CHECK(a[1].key != c[1].key);
    CHECK(a[0].key != salted[0].key);
  }

  TEST_CASE("a later prompt finds earlier outputs where they have a name") {
    const std::string text =
        R"({"id":"a","arrival_s":0,"prompt":[["a",20]],"output_tokens":12})"
        "\n"
        R"({"id":"b","arrival_s":4,"session":"s","prompt":[["a",20],["a/out",12],["b",16]],"output_tokens":4})"
        "\n";
    InfoOptions options;
    options.block_tokens = 16;
    TraceInfo info = trace_info(*open_trace_text(text, "kvsim", "t"), options);
    CHECK(info.blocks == 5);
    CHECK(info.reuse.blocks == doctest::Approx(2.0 / 5));
    CHECK(info.reuse.tokens == doctest::Approx(32.0 / 68));
    CHECK(info.reuse.full_blocks == doctest::Approx(2.0 / 4));
    CHECK(info.sessions == 1);
    options.is_request_list = false;
    info = trace_info(*open_trace_text(text, "kvsim", "t"), options);
    CHECK(info.reuse.tokens == doctest::Approx(16.0 / 68));
  }

  TEST_CASE("percentiles are interpolated and gaps measured") {
    const LengthSummary s = summarise({4, 1, 3, 2});
    CHECK(s.mean == 2.5);
    CHECK(s.p50 == 2.5);
    CHECK(s.p90 == doctest::Approx(3.7));
    CHECK(s.max == 4);
    std::string text;
    for (const char* t : {"0", "1", "2", "11"})
      text += std::string("{\"id\":\"r") + t + "\",\"arrival_s\":" + t +
              ",\"prompt\":[[\"x\",1]],\"max_tokens\":1}\n";
    const TraceInfo info = trace_info(*open_trace_text(text, "kvsim", "t"), {});
    REQUIRE(info.arrivals);
    CHECK(info.arrivals->rate == doctest::Approx(3.0 / 11));
    CHECK(info.arrivals->gap_cv == doctest::Approx(1.0285191));
    CHECK(info.arrivals->peak_1s == 1);
    CHECK(info.arrivals->peak_10s == doctest::Approx(0.3));
  }

  TEST_CASE("the shared traces have the published statistics and reuse") {
    const auto path = shared_data("traces/mooncake_conversation_trace.jsonl.gz");
    if (path.empty()) return;
    const TraceInfo c = info_of(path, {1000, 3000, 10000, 30000, 50000, 100000});
    CHECK(c.requests == 12031);
    CHECK(c.blocks == 288'500);
    CHECK(c.distinct_blocks == 182'790);
    CHECK(c.reuse.blocks == doctest::Approx(0.3664).epsilon(0.0001));
    CHECK(c.reuse.tokens == doctest::Approx(0.3736).epsilon(0.0001));
    CHECK(c.reuse.full_blocks == doctest::Approx(0.3819).epsilon(0.0001));
    const double conversation[] = {0.044, 0.065, 0.211, 0.326, 0.355, 0.364};
    for (std::size_t i = 0; i < 6; ++i)
      CHECK(std::abs(c.curve[i].hit_rate - conversation[i]) < 0.0006);
    CHECK(c.input.p50 == 6909);
    CHECK(std::abs(c.input.p99 - 85'400) < 1);
    CHECK(c.output.p90 == 597);

    const TraceInfo s = info_of(shared_data("traces/mooncake_synthetic_trace.jsonl.gz"),
                                {1000, 3000, 10000, 30000, 50000, 100000});
    CHECK(s.blocks == 121'877);
    CHECK(s.distinct_blocks == 43'924);
    CHECK(s.reuse.blocks == doctest::Approx(0.6396).epsilon(0.0001));
    CHECK(s.reuse.tokens == doctest::Approx(0.6512).epsilon(0.0001));
    CHECK(s.reuse.full_blocks == doctest::Approx(0.6594).epsilon(0.0001));
    const double synthetic[] = {0.082, 0.188, 0.423, 0.624, 0.640, 0.640};
    for (std::size_t i = 0; i < 6; ++i)
      CHECK(std::abs(s.curve[i].hit_rate - synthetic[i]) < 0.0006);

    const TraceInfo a = info_of(shared_data("traces/azure_llm_2023_conv.csv.gz"));
    CHECK(a.reuse.blocks == 0);
    REQUIRE(a.arrivals);
    CHECK(a.arrivals->gap_cv == doctest::Approx(1.09).epsilon(0.005));
    CHECK(a.arrivals->peak_10s == doctest::Approx(9.8).epsilon(0.005));
  }
}
