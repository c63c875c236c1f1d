// Small random worlds under every engine profile of the registry: whatever the options, requests
// end once and whole, blocks balance, and the same world gives the same steps.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <set>

#include "engine/engine.h"
#include "property/pinned.h"

using namespace kvsim;

namespace {

struct World {
  engine::SchedulerLimits limits;
  std::vector<workload::RequestSpec> requests;
};

template <class E>
E any_of(std::initializer_list<E> list) {
  return *rc::gen::elementOf(std::vector<E>(list));
}
bool coin() { return *rc::gen::arbitrary<bool>(); }

void vllm_options(engine::SchedulerLimits& l) {
  l.priority_policy = coin();
  l.reserve_full_input = coin();
  l.long_prefill_token_threshold = any_of<std::int64_t>({0, 0, 7, 12});
  l.watermark = any_of({0.0, 0.0, 0.05});
  if (l.async_scheduling || coin()) return;
  engine::SpeculativeOptions s;
  s.method = static_cast<engine::SpeculativeMethod>(*rc::gen::inRange(0, 5));
  s.num_speculative_tokens = *rc::gen::inRange(1, 5);
  s.parallel_drafting = coin();
  s.accept_pattern = any_of<std::vector<std::int64_t>>({{0}, {1}, {2, 0, 3}, {4}});
  // A request's drafting slots must leave room for a token in a step.
  if (s.extra_input_slots() < l.max_num_batched_tokens / l.max_num_seqs) l.vllm.speculative = s;
}

void sglang_options(engine::SchedulerLimits& l) {
  engine::SglangOptions& o = l.sglang;
  o.chunked_prefill_size = any_of<std::int64_t>({-1, 16, 32, 64});
  if (*o.chunked_prefill_size > 0)
    o.chunked_prefill_size = std::max(*o.chunked_prefill_size, l.block_tokens);
  o.max_prefill_tokens = any_of<std::int64_t>({64, 128, 16384});
  o.enable_mixed_chunk = coin();
  o.schedule_policy = any_of({engine::SchedulePolicy::fcfs, engine::SchedulePolicy::lpm,
                              engine::SchedulePolicy::dfs_weight, engine::SchedulePolicy::lof,
                              engine::SchedulePolicy::random, engine::SchedulePolicy::routing_key});
  o.schedule_conservativeness = any_of({1.0, 0.3, 0.02});
  o.radix_eviction_policy = static_cast<engine::RadixEvictionPolicy>(*rc::gen::inRange(0, 7));
  o.disable_radix_cache = *rc::gen::inRange(0, 4) == 0;
  o.enable_hierarchical_cache = !o.disable_radix_cache && *rc::gen::inRange(0, 3) == 0;
  o.host_tokens = any_of<std::int64_t>({16, 64, 400});
  o.hicache_write_policy = static_cast<engine::HicacheWritePolicy>(*rc::gen::inRange(0, 3));
  if (*rc::gen::inRange(0, 4) != 0) return;
  o.enable_priority_scheduling = true;
  o.schedule_policy = any_of({engine::SchedulePolicy::fcfs, engine::SchedulePolicy::lof});
  o.priority_scheduling_preemption_threshold = any_of<std::int64_t>({0, 2});
}

void trtllm_options(engine::SchedulerLimits& l) {
  l.trtllm.capacity_scheduler_policy =
      static_cast<engine::CapacitySchedulerPolicy>(*rc::gen::inRange(0, 3));
  l.trtllm.context_chunking_policy =
      static_cast<engine::ContextChunkingPolicy>(*rc::gen::inRange(0, 2));
}

void static_options(engine::SchedulerLimits& l) {
  l.static_batching.batching = static_cast<engine::Batching>(*rc::gen::inRange(0, 2));
  l.static_batching.reservation = static_cast<engine::Reservation>(*rc::gen::inRange(0, 3));
  l.static_batching.allocator = static_cast<engine::Allocator>(*rc::gen::inRange(0, 2));
}

engine::SchedulerLimits any_limits(std::string_view kind) {
  engine::SchedulerLimits l;
  l.max_model_len = 128;
  l.block_tokens = kind == "sglang" ? any_of<std::int64_t>({1, 4, 16}) : 16;
  if (kind == "static") l.block_tokens = 1;
  const std::int64_t tokens = *rc::gen::inRange(144, 400);
  l.num_blocks = tokens / l.block_tokens + 1;
  l.max_num_seqs = any_of<std::int64_t>({1, 2, 3, 4, 8});
  l.max_num_batched_tokens = any_of<std::int64_t>({16, 24, 64, 200});
  l.enable_prefix_caching = coin();
  l.enable_chunked_prefill = coin();
  // A preempted request may have grown to max_model_len: a step without chunks must hold it.
  if (!l.enable_chunked_prefill) l.max_num_batched_tokens = 200;
  l.async_scheduling = coin() && (kind == "vllm-v1" || kind == "sglang");
  if (kind == "vllm-v1") vllm_options(l);
  if (kind == "sglang") sglang_options(l);
  if (kind == "trtllm") trtllm_options(l);
  if (kind == "static") static_options(l);
  return l;
}

World any_world(std::string_view kind) {
  World w;
  w.limits = any_limits(kind);
  std::int64_t now = 0;
  const int count = any_of({1, 2, 4, 8, 14});
  for (int i = 0; i < count; ++i) {
    workload::RequestSpec r;
    r.index = i;
    r.id = "r" + std::to_string(i);
    now += any_of<std::int64_t>({0, 0, 1, 2, 9});
    r.arrival = Time(now * ns_per_second);
    const auto add = [&](std::string_view content, std::int64_t length) {
      workload::append_span(r.prompt, {workload::content_id(content), 0, length});
      r.prompt_tokens += length;
    };
    if (coin())
      add(any_of<const char*>({"system", "tools"}), any_of<std::int64_t>({3, 16, 33, 48}));
    add(coin() ? "shared" : r.id, any_of<std::int64_t>({1, 2, 15, 16, 17, 40}));
    r.max_tokens = any_of<std::int64_t>({1, 2, 9, 30});
    r.output_tokens = coin() ? r.max_tokens : *rc::gen::inRange<std::int64_t>(1, r.max_tokens + 1);
    r.priority = *rc::gen::inRange(0, 4);
    r.salt = coin() ? 0 : 5;
    w.requests.push_back(std::move(r));
  }
  return w;
}

class Watch final : public engine::StepSink {
 public:
  explicit Watch(const World& world) : world_(world) {}
  std::string log;
  std::map<std::string, int> ended;

  void step(const Step& s) override {
    const engine::StepPlan& plan = *s.plan;
    RC_ASSERT(!plan.scheduled.empty());
    std::set<engine::Slot> seen;
    for (const auto& item : plan.scheduled) {
      RC_ASSERT(seen.insert(item.slot).second);
      RC_ASSERT(item.tokens > 0);
      log += fmt::format("{}:{}+{} ", (*s.requests)[item.slot].spec.id, item.computed, item.tokens);
    }
    RC_ASSERT(plan.running <= world_.limits.max_num_seqs || plan.radix.has_value());
    for (const engine::Slot slot : plan.finished) ++ended[(*s.requests)[slot].spec.id];
    for (const auto& victim : plan.preempted) log += "-" + (*s.requests)[victim.slot].spec.id + " ";
    log += fmt::format("| {} {} {}\n", plan.running, plan.waiting, plan.free_blocks);
  }

 private:
  const World& world_;
};

// The steps of the world, after checking what must hold in each.
std::string simulate(const engine::ProfileEntry& profile, const World& world) {
  Watch watch(world);
  spec::ModelSpec model;
  metrics::Recorder recorder{metrics::RecorderOptions{}};
  engine::EngineSetup setup;
  setup.profile = &profile;
  setup.limits = world.limits;
  setup.cost = cost::make_constant(Duration(ns_per_second));
  setup.model = &model;
  engine::Engine engine(setup, recorder, &watch);
  RC_ASSERT(engine.profile().free_blocks() == engine.profile().usable_blocks());

  Time now;
  std::size_t next = 0, served = 0;
  for (std::int64_t turn = 0; next < world.requests.size() || engine.has_work(); ++turn) {
    RC_ASSERT(turn < 20000);
    for (; next < world.requests.size() && world.requests[next].arrival <= now; ++next) {
      workload::RequestSpec spec = world.requests[next];
      if (engine.why_unservable(spec)) continue;
      ++served;
      recorder.arrived(spec.index, spec.arrival);
      engine.submit(spec, true);
    }
    if (!engine.has_work()) {
      now = now + Duration(ns_per_second);
      continue;
    }
    now = now + engine.begin_step(now);
    engine.end_step(now);
    engine.profile().verify();
    const std::int64_t free = engine.profile().free_blocks();
    RC_ASSERT(free >= 0);
    RC_ASSERT(free <= engine.profile().usable_blocks());
  }
  RC_ASSERT(watch.ended.size() == served);
  for (const auto& [id, times] : watch.ended) RC_ASSERT(times == 1);
  // A copy to the host that was started last still locks what it reads.
  if (!world.limits.sglang.enable_hierarchical_cache)
    RC_ASSERT(engine.profile().free_blocks() == engine.profile().usable_blocks());
  RC_ASSERT(recorder.completed() == static_cast<std::int64_t>(served));
  return watch.log;
}

}  // namespace

TEST_CASE("under every profile requests end once and blocks balance and runs repeat") {
  for (const engine::ProfileEntry& profile : engine::profiles()) {
    CAPTURE(profile.name);
    KVSIM_PROPERTY("INV-18: " + std::string(profile.name), [&] {
      const World world = any_world(profile.engine);
      const std::string steps = simulate(profile, world);
      RC_ASSERT(steps == simulate(profile, world));
    });
  }
}
