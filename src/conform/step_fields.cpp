#include "conform/step_fields.h"

namespace kvsim::conform {
namespace {

constexpr std::string_view names[] = {"mode",        "scheduled",   "hits",           "preempted",
                                      "finished",    "running",     "waiting",        "loaded",
                                      "loaded_only", "free_blocks", "available",      "evictable",
                                      "protected",   "host_used",   "new_token_ratio"};

}  // namespace

std::span<const std::string_view> step_fields() { return names; }

void observe(const engine::StepSink::Step& step, Answers& got) {
  const auto id = [&](engine::Slot slot) -> const std::string& {
    return (*step.requests)[slot].spec.id;
  };
  const engine::StepPlan& plan = *step.plan;
  Answer::Map scheduled, hits;
  for (const auto& item : plan.scheduled) scheduled.emplace_back(id(item.slot), item.tokens);
  for (const auto& hit : plan.admitted)
    if (hit.tokens > 0) hits.emplace_back(id(hit.slot), hit.tokens);
  Answer::List preempted, finished;
  for (const auto& victim : plan.preempted) preempted.emplace_back(id(victim.slot));
  for (const engine::Slot slot : plan.finished) finished.emplace_back(id(slot));

  got.clear();
  got.set("scheduled", std::move(scheduled));
  got.set("hits", std::move(hits));
  got.set("preempted", std::move(preempted));
  got.set("finished", std::move(finished));
  got.set("running", plan.running);
  got.set("waiting", plan.waiting);
  got.set("free_blocks", plan.free_blocks);
  if (plan.radix) {
    got.set("mode", engine::step_mode_names[static_cast<std::size_t>(plan.radix->mode)]);
    got.set("available", plan.radix->available);
    got.set("evictable", plan.radix->evictable);
    got.set("protected", plan.radix->locked);
    got.set("new_token_ratio", plan.radix->new_token_ratio);
  }
  if (!plan.host_used) return;
  const auto loads = [&](const std::vector<engine::StepPlan::Loaded>& items) {
    Answer::Map map;
    for (const auto& item : items) map.emplace_back(id(item.slot), item.tokens);
    return map;
  };
  got.set("host_used", *plan.host_used);
  got.set("loaded", loads(plan.loaded));
  got.set("loaded_only", loads(plan.loaded_only));
}

}  // namespace kvsim::conform
