#include <doctest/doctest.h>
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>

#include "property/pinned.h"
#include "report/json.h"
#include "scenario/load.h"
#include "scenario/run.h"

// Small random worlds through the whole simulator: scenario text, request list, engines, result.

using namespace kvsim;

namespace {

constexpr std::int64_t block_tokens = 16, max_model_len = 128;

struct Line {
  std::string id;
  std::int64_t arrival_ns = 0;
  std::vector<std::pair<std::string, std::int64_t>> prompt;
  std::int64_t output = 1, max_tokens = 1, priority = 0;
  int after = -1;  // line
  std::int64_t think_ns = 0;
  std::int64_t prompt_tokens() const {
    std::int64_t sum = 0;
    for (const auto& [content, length] : prompt) sum += length;
    return sum;
  }
  std::int64_t generated() const { return std::min(output, max_tokens); }
};

struct World {
  std::vector<Line> lines;
  std::int64_t blocks = 0, max_num_seqs = 0, max_num_batched_tokens = 0, threshold = 0;
  int replicas = 1;
  bool caching = true, priority = false, reserve = true;
  std::string cost;
};

World any_world(bool followers) {
  World w;
  w.blocks =
      *rc::gen::inRange(10, 22);  // one request of max_model_len takes 8 and the null block 1
  w.max_num_seqs = *rc::gen::element(1, 2, 3, 4, 6, 8);
  w.max_num_batched_tokens = *rc::gen::element(16, 24, 64, 200);
  w.max_num_batched_tokens = std::max(w.max_num_batched_tokens, w.max_num_seqs);
  w.threshold = *rc::gen::element(0, 0, 12);
  w.replicas = *rc::gen::inRange(1, 3);
  w.caching = *rc::gen::arbitrary<bool>(), w.priority = *rc::gen::arbitrary<bool>(),
  w.reserve = *rc::gen::arbitrary<bool>();
  w.cost = *rc::gen::element<std::string>(R"({"kind": "constant", "step": "10ms"})",
                                          R"({"kind": "roofline"})");
  std::int64_t now = 0;
  for (int i = 0, n = *rc::gen::element(1, 2, 3, 5, 8, 12, 16); i < n; ++i) {
    Line l;
    l.id = "r" + std::to_string(i);
    now += *rc::gen::element(0, 0, 1, 10'000'000, 35'000'000, 400'000'000);
    l.arrival_ns = now;
    if (*rc::gen::arbitrary<bool>())
      l.prompt.push_back({*rc::gen::element<std::string>("system", "tools"),
                          *rc::gen::element(1, 15, 16, 32, 33, 48, 59)});
    l.prompt.push_back({l.id, *rc::gen::element(1, 2, 14, 15, 16, 17, 31, 39)});
    l.output = *rc::gen::element(1, 2, 3, 15, 16, 17, 28),
    l.max_tokens = *rc::gen::elementOf(std::vector<std::int64_t>{l.output, l.output, 5, 28});
    l.priority = *rc::gen::inRange(0, 3);
    if (followers && i > 0 && *rc::gen::inRange(0, 3) == 0) {
      l.after = *rc::gen::inRange(0, i);
      l.think_ns = *rc::gen::element(0, 10'000'000, 50'000'000);
    }
    w.lines.push_back(std::move(l));
  }
  return w;
}

std::string seconds(std::int64_t ns) {
  return fmt::format("{}.{:09}", ns / ns_per_second, ns % ns_per_second);
}

std::string request_list(const std::vector<Line>& lines) {
  std::string out;
  for (const Line& l : lines) {
    std::string prompt;
    for (const auto& [content, length] : l.prompt)
      prompt += fmt::format("{}[\"{}\",{}]", prompt.empty() ? "" : ",", content, length);
    out += fmt::format(
        R"({{"id":"{}","arrival_s":{},"prompt":[{}],"output_tokens":{},"max_tokens":{},"priority":{})",
        l.id, seconds(l.arrival_ns), prompt, l.output, l.max_tokens, l.priority);
    if (l.after >= 0)
      out += fmt::format(R"(,"after":"{}","think_s":{})",
                         lines[static_cast<std::size_t>(l.after)].id, seconds(l.think_ns));
    out += "}\n";
  }
  return out;
}

struct Folder {
  std::string path = fmt::format("{}/property-{}", KVSIM_BINARY_DIR, ::getpid());
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

scenario::Resolved resolved(const World& w, const std::string& list) {
  static const spec::Catalog catalog;
  // The cases of this program run side by side.
  static const Folder folder;
  config::write_file(folder.path + "/requests.jsonl", list);
  const std::string text = fmt::format(
      R"({{"schema": "kvsim.scenario/1", "name": "property", "model": "llama-3.1-8b", "workload": {{"trace": {{"file": "requests.jsonl", "format": "kvsim"}}}},
 "cluster": {{"pools": [{{"name": "serve", "replicas": {}, "engine": {{"profile": "vllm-v1", "gpu": "h100-sxm", "num_gpu_blocks_override": {}, "block_size": {},
 "max_model_len": {}, "max_num_seqs": {}, "max_num_batched_tokens": {}, "long_prefill_token_threshold": {}, "enable_prefix_caching": {},
 "scheduling_policy": "{}", "scheduler_reserve_full_isl": {}, "cost": {}}}}}]}}}})",
      w.replicas, w.blocks, block_tokens, max_model_len, w.max_num_seqs, w.max_num_batched_tokens,
      w.threshold, w.caching, w.priority ? "priority" : "fcfs", w.reserve, w.cost);
  return scenario::resolve(config::Document::parse(text, "property.json"), folder.path, catalog);
}

// Follows every step and checks it against the ones before.
class Ledger final : public engine::StepSink {
 public:
  explicit Ledger(const World& world) : world_(world) {}
  std::int64_t scheduled = 0, hits = 0, lost = 0, steps = 0;

  void step(const Step& s) override {
    ++steps;
    auto& computed = engines_[s.engine];
    Time& last = last_start_[s.engine];
    RC_ASSERT(s.number == ++numbers_[s.engine]);
    RC_ASSERT(s.number == 1 || s.start > last);
    last = s.start;
    for (const auto& p : s.plan->preempted) {
      RC_ASSERT(computed.count(p.slot) == 1u);
      RC_ASSERT(computed[p.slot] == p.lost);
      lost += p.lost;
      computed.erase(p.slot);
    }
    for (const auto& a : s.plan->admitted) {
      RC_ASSERT(computed.count(a.slot) == 0u);
      RC_ASSERT(a.tokens >= 0);
      RC_ASSERT(a.tokens < a.known_tokens);
      if (!world_.caching) RC_ASSERT(a.tokens == 0);
      RC_ASSERT(a.tokens % block_tokens == 0);
      computed[a.slot] = a.tokens, hits += a.tokens;
    }
    std::int64_t tokens = 0;
    std::set<engine::Slot> seen;
    for (const auto& entry : s.plan->scheduled) {
      RC_ASSERT(entry.tokens > 0);
      RC_ASSERT(seen.insert(entry.slot).second);
      RC_ASSERT(computed.count(entry.slot) == 1u);
      RC_ASSERT(computed[entry.slot] == entry.computed);
      computed[entry.slot] += entry.tokens;
      tokens += entry.tokens;
      if (world_.threshold > 0) RC_ASSERT(entry.tokens <= world_.threshold);
    }
    scheduled += tokens;
    RC_ASSERT(tokens > 0);
    RC_ASSERT(tokens <= world_.max_num_batched_tokens);
    RC_ASSERT(s.plan->running == static_cast<std::int64_t>(computed.size()));
    RC_ASSERT(s.plan->running <= world_.max_num_seqs);

    // Every usable block is free (cached ones count as free) or held by a running request.
    std::set<kv::BlockId> held;
    std::int64_t references = 0;
    for (const auto& [slot, count] : computed) {
      const auto& blocks = (*s.requests)[slot].table.blocks;
      RC_ASSERT(static_cast<std::int64_t>(blocks.size()) == ceil_div(count, block_tokens));
      held.insert(blocks.begin(), blocks.end());
      references += static_cast<std::int64_t>(blocks.size());
    }
    RC_ASSERT(s.plan->free_blocks + static_cast<std::int64_t>(held.size()) == world_.blocks - 1);
    if (!world_.caching) RC_ASSERT(references == static_cast<std::int64_t>(held.size()));
    for (const engine::Slot slot : s.plan->finished) RC_ASSERT(computed.erase(slot) == 1u);
  }

  bool all_ended() const {
    return std::ranges::all_of(engines_, [](const auto& e) { return e.second.empty(); });
  }

 private:
  const World& world_;
  std::map<int, std::map<engine::Slot, std::int64_t>> engines_;
  std::map<int, Time> last_start_;
  std::map<int, std::int64_t> numbers_;
};

metrics::RunResult simulate(const World& w, const std::vector<Line>& lines,
                            engine::StepSink* sink = nullptr) {
  scenario::RunOptions options;
  options.steps = sink, options.keep_requests = true;
  return scenario::run(resolved(w, request_list(lines)), options);
}

const metrics::RequestRow& row_of(const metrics::RunResult& r, const std::string& id) {
  const auto at = std::ranges::find(r.requests, id, &metrics::RequestRow::id);
  RC_ASSERT(at != r.requests.end());
  return *at;
}

}  // namespace

TEST_CASE(
    "INV-13 every block is free or held and INV-14 every token is computed exactly as often as it "
    "must be") {
  KVSIM_PROPERTY("steps", [] {
    const World w = any_world(true);
    Ledger ledger(w);
    const auto result = simulate(w, w.lines, &ledger);
    RC_ASSERT(ledger.all_ended());
    RC_CLASSIFY(ledger.lost > 0, "with preemptions");
    RC_CLASSIFY(ledger.hits > 0, "with prefix hits");
    std::int64_t needed = 0;
    for (const Line& l : w.lines) needed += l.prompt_tokens() + l.generated() - 1;
    RC_ASSERT(ledger.scheduled == needed - ledger.hits + ledger.lost);
    RC_ASSERT(result.kv.preempted_tokens == ledger.lost);
  });
}

TEST_CASE("INV-15 no request is served before it arrives and every token is delivered once") {
  KVSIM_PROPERTY("requests", [] {
    const World w = any_world(true);
    const auto result = simulate(w, w.lines);
    RC_ASSERT(result.complete);
    RC_ASSERT(result.requests.size() == w.lines.size());
    RC_ASSERT(result.summary.completed == static_cast<std::int64_t>(w.lines.size()));
    std::int64_t inputs = 0, outputs = 0;
    for (const Line& l : w.lines) {
      const auto& r = row_of(result, l.id);
      RC_ASSERT(r.failure.empty());
      RC_ASSERT(r.prompt_tokens == l.prompt_tokens());
      RC_ASSERT(r.output_tokens == l.generated());
      RC_ASSERT(r.cached_tokens < r.prompt_tokens);
      RC_ASSERT(r.arrival >= Time(l.arrival_ns));
      RC_ASSERT(r.first_scheduled >= r.arrival);
      RC_ASSERT(r.first_token > r.first_scheduled);
      RC_ASSERT(r.end >= r.first_token);
      RC_ASSERT((r.output_tokens == 1) == (r.end == r.first_token));
      if (l.after >= 0) {
        const auto& before = row_of(result, w.lines[static_cast<std::size_t>(l.after)].id);
        RC_ASSERT(r.arrival == std::max(Time(l.arrival_ns), before.end + Duration(l.think_ns)));
      }
      inputs += r.prompt_tokens, outputs += r.output_tokens;
    }
    RC_ASSERT(result.summary.total_input_tokens == inputs);
    RC_ASSERT(result.summary.total_output_tokens == outputs);
  });
}

TEST_CASE("INV-16 a run is the same run every time") {
  KVSIM_PROPERTY("twice", [] {
    const World w = any_world(true);
    const std::string once = report::to_json(simulate(w, w.lines));
    const bool same = report::to_json(simulate(w, w.lines)) == once;
    RC_ASSERT(same);
  });
}

TEST_CASE("INV-17 a run that is exported and replayed is the same run") {
  KVSIM_PROPERTY("replay", [] {
    const World w = any_world(true);
    const auto first = simulate(w, w.lines);
    // The arrivals as they happened, without the links that made them.
    std::vector<Line> lines = w.lines;
    for (Line& l : lines) l.arrival_ns = row_of(first, l.id).arrival.nanoseconds(), l.after = -1;
    std::ranges::stable_sort(lines, {}, &Line::arrival_ns);
    const auto again = simulate(w, lines);
    for (const Line& l : lines) {
      const auto &a = row_of(first, l.id), &b = row_of(again, l.id);
      RC_ASSERT(a.engine == b.engine);
      RC_ASSERT(a.cached_tokens == b.cached_tokens);
      RC_ASSERT(a.preemptions == b.preemptions);
      RC_ASSERT(a.first_scheduled == b.first_scheduled);
      RC_ASSERT(a.first_token == b.first_token);
      RC_ASSERT(a.end == b.end);
    }
  });
}

TEST_CASE(
    "a victim that was already scheduled in the step loses only what it had computed before") {
  World w;
  w.blocks = 10, w.max_num_seqs = 2, w.max_num_batched_tokens = 200, w.caching = false,
  w.priority = true;
  w.cost = R"({"kind": "constant", "step": "10ms"})";
  Line low, high;
  low.id = "low", low.prompt = {{"low", 60}}, low.output = low.max_tokens = 10, low.priority = 2;
  high.id = "high", high.prompt = {{"high", 79}}, high.output = high.max_tokens = 10;
  w.lines = {low, high};
  // Step 1 fills 4 + 5 blocks, step 2 fits, in step 3 `high` needs a sixth block after `low` got
  // its token.
  const auto result = simulate(w, w.lines);
  CHECK(row_of(result, "low").preemptions == 1);
  CHECK(result.kv.preempted_tokens == 61);
}
