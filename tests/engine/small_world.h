#pragma once
#include <map>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/registry.h"

// One engine of a profile with steps of one second, and what each of its steps did.
namespace kvsim::testing {

inline workload::RequestSpec small_request(const std::string& id, std::int64_t index,
                                           std::int64_t prompt, std::int64_t output) {
  workload::RequestSpec r;
  r.index = index;
  r.id = id;
  r.prompt = {{workload::content_id(id), 0, prompt}};
  r.prompt_tokens = prompt;
  r.output_tokens = r.max_tokens = output;
  return r;
}

class SmallWorld : engine::StepSink {
 public:
  struct StepRecord {
    std::map<std::string, std::int64_t> scheduled, hits;
    std::vector<std::string> preempted, finished;
    std::int64_t free_blocks = 0, running = 0, waiting = 0, lost = 0;
    engine::Refusal refusal = engine::Refusal::none;
    std::optional<engine::KvUse> kv_use;
    std::optional<std::int64_t> host_used;
    std::map<std::string, std::int64_t> loaded;
  };

  SmallWorld(const std::string& profile, const engine::SchedulerLimits& limits)
      : recorder_(metrics::RecorderOptions{}), engine_(setup(profile, limits), recorder_, this) {}

  void submit(workload::RequestSpec r) {
    recorder_.arrived(r.index, r.arrival);
    engine_.submit(r, true);
  }
  // `id`, its own prompt.
  void submit(const std::string& id, std::int64_t prompt, std::int64_t output) {
    submit(small_request(id, submitted_++, prompt, output));
  }
  const StepRecord& step() {
    now_ = now_ + engine_.begin_step(now_);
    engine_.end_step(now_);
    engine_.profile().verify();
    return steps.back();
  }
  void run_all(int most = 100000) {
    while (engine_.has_work() && most-- > 0) step();
  }
  // Step k, from 1.
  const StepRecord& at(std::size_t k) const { return steps.at(k - 1); }
  engine::Engine& engine() { return engine_; }
  std::int64_t completed() const { return recorder_.completed(); }

  std::vector<StepRecord> steps;

 private:
  engine::EngineSetup setup(const std::string& profile, const engine::SchedulerLimits& limits) {
    engine::EngineSetup s;
    s.profile = engine::find_profile(profile);
    s.limits = limits;
    s.cost = cost::make_constant(Duration(ns_per_second));
    s.model = &model_;
    return s;
  }
  void step(const Step& s) override {
    const auto name = [&](engine::Slot slot) { return (*s.requests)[slot].spec.id; };
    StepRecord record;
    for (const auto& item : s.plan->scheduled) record.scheduled[name(item.slot)] = item.tokens;
    for (const auto& hit : s.plan->admitted)
      if (hit.tokens > 0) record.hits[name(hit.slot)] = hit.tokens;
    for (const auto& victim : s.plan->preempted) {
      record.preempted.push_back(name(victim.slot));
      record.lost += victim.lost;
    }
    for (const auto slot : s.plan->finished) record.finished.push_back(name(slot));
    for (const auto& loaded : s.plan->loaded) record.loaded[name(loaded.slot)] = loaded.tokens;
    record.free_blocks = s.plan->free_blocks;
    record.running = s.plan->running;
    record.waiting = s.plan->waiting;
    record.refusal = s.plan->refusal;
    record.kv_use = s.plan->kv_use;
    record.host_used = s.plan->host_used;
    steps.push_back(std::move(record));
  }

  spec::ModelSpec model_;
  metrics::Recorder recorder_;
  engine::Engine engine_;
  Time now_;
  std::int64_t submitted_ = 0;
};

}  // namespace kvsim::testing
