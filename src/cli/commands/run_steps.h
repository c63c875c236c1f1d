#pragma once
#include "engine/engine.h"
#include "report/step_log.h"

namespace kvsim::cli {

// Carries engine steps to the step log: the engine knows no report, the report no engine.
class StepWriter final : public engine::StepSink {
 public:
  explicit StepWriter(report::StepLog& log) : log_(log) {}

  void step(const Step& s) override {
    const auto id = [&](engine::Slot slot) -> std::string_view {
      return (*s.requests)[slot].spec.id;
    };
    log_.begin(s.number, s.start, s.engine);
    for (const auto& item : s.plan->scheduled) log_.scheduled(id(item.slot), item.tokens);
    for (const auto& hit : s.plan->admitted)
      if (hit.tokens > 0) log_.hit(id(hit.slot), hit.tokens);
    for (const auto& victim : s.plan->preempted) log_.preempted(id(victim.slot));
    for (const engine::Slot slot : s.plan->finished) log_.finished(id(slot));
    if (s.plan->radix) {
      const engine::StepPlan::Radix& radix = *s.plan->radix;
      log_.radix(engine::step_mode_names[static_cast<std::size_t>(radix.mode)], radix.available,
                 radix.evictable, radix.locked, radix.new_token_ratio);
    }
    if (s.plan->host_used) {
      log_.host_used(*s.plan->host_used);
      for (const auto& item : s.plan->loaded) log_.loaded(id(item.slot), item.tokens);
      for (const auto& item : s.plan->loaded_only) log_.loaded_only(id(item.slot), item.tokens);
    }
    log_.end(s.plan->running, s.plan->waiting, s.plan->free_blocks);
  }

 private:
  report::StepLog& log_;
};

}  // namespace kvsim::cli
