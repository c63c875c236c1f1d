#pragma once
#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"

// One engine of the profile sglang with steps of one second, for the tests of its rules.
namespace kvsim::testing::sglang {

struct Span {
  const char* content;
  std::int64_t length, offset = 0;
};

// What the tests look at of a step.
struct Seen {
  engine::StepMode mode{};
  std::map<std::string, std::int64_t> scheduled, hits;
  std::vector<std::string> order, preempted, finished;
  engine::StepPlan::Radix radix;
  std::int64_t running = 0, waiting = 0, host_used = 0, loaded = 0;
};

class World : public engine::StepSink {
 public:
  explicit World(const engine::SchedulerLimits& l)
      : pool_(l.num_blocks * l.block_tokens), recorder_(metrics::RecorderOptions{}) {
    engine::EngineSetup s;
    s.profile = engine::find_profile("sglang");
    s.limits = l;
    s.cost = cost::make_constant(Duration(ns_per_second));
    s.model = &model_;
    engine_.emplace(s, recorder_, this);
  }
  workload::RequestSpec request(const std::vector<Span>& prompt, std::int64_t output,
                                std::int64_t max_tokens = 0, std::int64_t priority = 0) {
    workload::RequestSpec r;
    r.index = next_++;
    r.id = "r" + std::to_string(r.index);
    r.arrival = now;
    for (const Span& s : prompt) {
      workload::append_span(r.prompt, {workload::content_id(s.content), s.offset, s.length});
      r.prompt_tokens += s.length;
    }
    r.output_tokens = output;
    r.max_tokens = max_tokens > 0 ? max_tokens : output;
    r.priority = priority;
    return r;
  }
  void submit(workload::RequestSpec r) {
    recorder_.arrived(r.index, r.arrival);
    engine_->submit(r, true);
  }
  void submit(const std::vector<Span>& prompt, std::int64_t output, std::int64_t max_tokens = 0,
              std::int64_t priority = 0) {
    submit(request(prompt, output, max_tokens, priority));
  }
  const Seen& step() {
    const Duration duration = engine_->begin_step(now);
    engine_->profile().verify();
    now = now + duration;
    engine_->end_step(now);
    engine_->profile().verify();
    return steps.back();
  }
  void run(int most = 100000) {
    while (engine_->has_work() && most-- > 0) step();
    REQUIRE_FALSE(engine_->has_work());
    // Nobody holds anything; a copy to the host still locks what it reads.
    if (steps.back().host_used == 0)
      CHECK(engine_->profile().free_blocks() == engine_->profile().usable_blocks());
  }
  engine::Engine& engine() { return *engine_; }

  void step(const Step& s) override {
    Seen seen;
    const auto name = [&](engine::Slot slot) { return (*s.requests)[slot].spec.id; };
    seen.mode = s.plan->radix->mode;
    for (const auto& item : s.plan->scheduled) {
      seen.scheduled[name(item.slot)] = item.tokens;
      seen.order.push_back(name(item.slot));
    }
    for (const auto& hit : s.plan->admitted) seen.hits[name(hit.slot)] = hit.tokens;
    for (const auto& victim : s.plan->preempted) seen.preempted.push_back(name(victim.slot));
    for (const engine::Slot slot : s.plan->finished) seen.finished.push_back(name(slot));
    for (const auto& loaded : s.plan->loaded) seen.loaded += loaded.tokens;
    seen.radix = *s.plan->radix;
    seen.running = s.plan->running;
    seen.waiting = s.plan->waiting;
    seen.host_used = s.plan->host_used.value_or(0);
    CHECK(seen.radix.available + seen.radix.evictable + seen.radix.locked <= pool_);
    steps.push_back(std::move(seen));
  }

  std::vector<Seen> steps;
  Time now;

 private:
  std::int64_t pool_, next_ = 0;
  spec::ModelSpec model_;
  metrics::Recorder recorder_;
  std::optional<engine::Engine> engine_;
};

inline engine::SchedulerLimits limits(std::int64_t slots, std::int64_t page = 1) {
  engine::SchedulerLimits l;
  l.max_num_seqs = 32;
  l.max_num_batched_tokens = 8192;
  l.max_model_len = 100000;
  l.num_blocks = slots / page;
  l.block_tokens = page;
  l.sglang.chunked_prefill_size = 8192;
  return l;
}

using Amounts = std::map<std::string, std::int64_t>;
using Names = std::vector<std::string>;

}  // namespace kvsim::testing::sglang
