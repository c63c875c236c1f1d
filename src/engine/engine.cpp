#include "engine/engine.h"

#include <fmt/core.h>

#include <algorithm>

#include "diag/check.h"
#include "diag/diagnostic.h"

namespace kvsim::engine {
namespace {

// To say what bound the run, the first steps and then one in this many are billed operator by
// operator; a bill stands for the time since the one before. A prime, so that no periodic workload
// hides from it.
constexpr std::int64_t bill_first = 64;
constexpr std::int64_t bill_every = 61;

// Steps in a row that make no token before the run is called a livelock: far more than any queue of
// prompts takes to prefill when nothing is thrown away.
constexpr std::int64_t livelock_steps = 1 << 20;

}  // namespace

Engine::Engine(const EngineSetup& setup, metrics::Recorder& recorder, StepSink* sink)
    : setup_(setup),
      recorder_(recorder),
      sink_(sink),
      profile_(setup.profile->make(setup.limits, requests_)),
      fill_(*setup.model),
      block_tokens_(profile_->block_tokens()) {}

void Engine::submit(workload::RequestSpec& spec, bool measured) {
  const Slot slot = requests_.take();
  RequestState& r = requests_[slot];
  std::swap(r.spec, spec);
  r.computed = 0;
  r.slot_tokens = 0;
  r.prompt_tokens = static_cast<std::int32_t>(r.spec.prompt_tokens);
  r.tokens = r.prompt_tokens;
  r.stop_at = static_cast<std::int32_t>(
      std::min(r.spec.prompt_tokens + std::min(r.spec.output_tokens, r.spec.max_tokens),
               setup_.limits.max_model_len));
  if (r.stop_at < r.spec.prompt_tokens + std::min(r.spec.output_tokens, r.spec.max_tokens))
    ++totals_.truncated;
  r.measured = measured;
  r.drafts = r.verifications = r.in_flight = r.unsettled = 0;
  r.cached_tokens = 0;
  r.preemptions = 0;
  r.first_scheduled = r.first_token = r.last_token = Time(-1);
  profile_->submit(slot);
}

Duration Engine::begin_step(Time now) {
  CheckContext& context = check_context();
  context.time_ns = now.nanoseconds();
  context.step = ++totals_.steps;
  const bool async = setup_.limits.async_scheduling;
  if (async) current_ ^= 1U;  // the plan made ahead, or what an attempt without a step left in it
  if (!ahead_) {
    profile_->schedule(plan());
    if (plan().scheduled.empty()) stuck(now);
    if (async) stamp(plan());
  }
  if (async) {
    if (profile_->has_work()) profile_->schedule(next());
    ahead_ = !next().scheduled.empty();
    stamp(next());
  }
  expect_tokens();
  const Duration computing = to_duration(setup_.cost->step_seconds(shape_));
  const Duration duration = std::max(computing, to_duration(load_seconds()));
  KVSIM_CHECK(duration.value() > 0, "a step of {} tokens takes no time", shape_.tokens);
  totals_.busy += duration;
  totals_.loading += duration - computing;
  totals_.scheduled_tokens += shape_.tokens;
  if (totals_.steps <= bill_first || totals_.steps % bill_every == 0) sample_bill();
  account(now);
  measure_kv(duration);
  check_progress(now);
  if (sink_) sink_->step({totals_.steps, now, setup_.engine_index, &plan(), &requests_});
  return duration;
}

// Layers are loaded ahead of their computation, so that the slower of the two takes the time.
double Engine::load_seconds() const {
  std::int64_t tokens = 0;
  for (const auto* list : {&plans_[current_].loaded, &plans_[current_].loaded_only})
    for (const StepPlan::Loaded& item : *list) tokens += item.tokens;
  return static_cast<double>(tokens) * setup_.host_token_seconds;
}

void Engine::stamp(StepPlan& plan) const {
  for (StepPlan::Scheduled& item : plan.scheduled) item.epoch = requests_[item.slot].epoch;
}

// What the step costs, how many tokens it will emit, and whom they complete. With a step scheduled
// ahead this comes after it: a request that it retracted emits nothing.
void Engine::expect_tokens() {
  shape_ = {};
  std::int64_t decodes = 0, context = 0;  // of plain decodes
  const bool async = setup_.limits.async_scheduling;
  // A power of two, as nearly always: the rest of a division is a mask.
  const std::int64_t mask =
      (block_tokens_ & (block_tokens_ - 1)) == 0 ? block_tokens_ - 1 : std::int64_t{0};
  std::int64_t ends = 0;
  StepPlan& p = plan();
  for (StepPlan::Scheduled& item : p.scheduled) {
    const RequestState& r = requests_[item.slot];
    ends += -(item.computed + item.tokens) & mask;
    if (!async) item.epoch = r.epoch;
    if (item.tokens == 1 && item.samples) {
      ++decodes;
      context += item.computed;
      item.emitted = item.epoch == r.epoch;
    } else {
      expect_rows(item);
    }
    if (r.tokens + item.emitted >= r.stop_at && item.emitted > 0) p.finished.push_back(item.slot);
  }
  unfilled_ = mask > 0 || block_tokens_ == 1 ? ends : unfilled();
  if (fill_.linear()) return fill_.add_decodes(shape_, decodes, context);
  for (const StepPlan::Scheduled& item : p.scheduled)
    if (item.tokens == 1 && item.samples) fill_.add_decode(shape_, item.computed);
}

std::int64_t Engine::unfilled() const {
  std::int64_t slots = 0;
  for (const StepPlan::Scheduled& item : plans_[current_].scheduled)
    slots += (block_tokens_ - (item.computed + item.tokens) % block_tokens_) % block_tokens_;
  return slots;
}

// A prefill chunk, or drafts to verify.
void Engine::expect_rows(StepPlan::Scheduled& item) {
  RequestState& r = requests_[item.slot];
  const std::int64_t rows = item.samples ? 1 + item.drafts : 0;
  if (item.tokens == 1 || item.drafts > 0)
    fill_.add_decode(shape_, item.computed, item.tokens, rows);
  else
    fill_.add_chunk(shape_, item.computed, item.tokens, rows);
  item.emitted = 0;
  if (!item.samples || item.epoch != r.epoch) return;
  item.emitted = 1;
  const auto& speculative = setup_.limits.vllm.speculative;
  if (item.drafts == 0 || !speculative) return;
  const std::vector<std::int64_t>& pattern = speculative->accept_pattern;
  const auto verification = static_cast<std::size_t>(r.verifications++);
  if (pattern.empty()) return;
  item.emitted += static_cast<std::int32_t>(
      std::min<std::int64_t>(pattern[verification % pattern.size()], item.drafts));
}

void Engine::account(Time now) {
  const StepPlan& p = plan();
  if (!p.admitted.empty()) start_requests(now);
  for (const StepPlan::Loaded& item : p.loaded)
    if (requests_[item.slot].measured) recorder_.loaded_from_host(item.tokens);
  for (const StepPlan::Preempted& victim : p.preempted)
    if (requests_[victim.slot].measured) recorder_.preempted(setup_.engine_index, victim.lost);
  if (p.waiting > 0) {
    totals_.refused_kv += p.refusal == Refusal::kv_blocks || p.refusal == Refusal::preemption;
    totals_.refused_seqs += p.refusal == Refusal::max_num_seqs;
    totals_.refused_tokens += p.refusal == Refusal::token_budget;
  }
  recorder_.engine_state(setup_.engine_index, now, profile_->usable_blocks() - p.free_blocks,
                         p.running, p.waiting);
  const std::int64_t evicted = profile_->evicted_blocks();
  if (evicted == evicted_before_) return;
  recorder_.evicted(setup_.engine_index, now, evicted - evicted_before_);
  evicted_before_ = evicted;
}

// In a paged pool what is held is full of tokens, but for the end of each request's last block.
void Engine::measure_kv(Duration duration) {
  const StepPlan& p = plan();
  const std::int64_t block = block_tokens_;
  const std::int64_t pool = profile_->usable_blocks() * block;
  KvUse use;
  if (p.kv_use) {
    use = *p.kv_use;
  } else {
    const std::int64_t held = pool - p.free_blocks * block;
    use.internal = std::min(unfilled_, held);
    use.states = held - use.internal;
  }
  const bool pressed =
      p.waiting > 0 && (p.refusal == Refusal::kv_blocks || p.refusal == Refusal::preemption);
  totals_.kv_use.add(use, pool, p.running,
                     pressed ? KvUseMeter::Pressure::some : KvUseMeter::Pressure::none,
                     to_seconds(duration));
}

// The engine itself would wait forever: a preempted request, say, that has outgrown a step without
// chunked prefill.
void Engine::stuck(Time now) const {
  Diagnostic d;
  d.code = "engine-livelock";
  d.message = fmt::format(
      "engine {} can schedule nothing and has nothing running: {} requests wait, {} free blocks, "
      "at {} s",
      setup_.engine_index, profile_->queued(), profile_->free_blocks(), to_seconds(now));
  d.hint =
      "a request that was preempted may have outgrown a step: turn chunked prefill on, raise the "
      "token budget of a step, or take a larger pool";
  throw InputError(std::move(d));
}

void Engine::check_progress(Time now) {
  steps_without_token_ = shape_.sampled_rows > 0 ? 0 : steps_without_token_ + 1;
  if (steps_without_token_ <= livelock_steps) return;
  Diagnostic d;
  d.code = "engine-livelock";
  d.message = fmt::format(
      "livelock: engine {} has made no token in {} steps ({} running, {} waiting, {} free blocks, "
      "at {} s)",
      setup_.engine_index, steps_without_token_, plan().running, plan().waiting, plan().free_blocks,
      to_seconds(now));
  d.hint =
      "admit only what fits: scheduler_reserve_full_isl true, a larger pool, or a smaller "
      "max_num_seqs";
  throw InputError(std::move(d));
}

void Engine::start_requests(Time now) {
  for (const StepPlan::Hit& hit : plan().admitted) {
    RequestState& r = requests_[hit.slot];
    if (hit.resumed) continue;
    r.first_scheduled = now;
    r.cached_tokens = hit.tokens;
    if (!r.measured) continue;
    const std::int64_t block = setup_.limits.block_tokens;
    recorder_.prefix_lookup(hit.known_tokens, hit.tokens, hit.known_tokens / block,
                            hit.tokens / block);
  }
}

void Engine::end_step(Time now) {
  emit_tokens(now);
  ended_.clear();
  StepPlan& p = plan();
  for (const Slot slot : p.finished) report_finished(slot, now);
  profile_->complete(p);
  // The step in flight may still name a request that has ended: its slot serves no other before
  // that step has completed too.
  for (const Slot slot : retired_) requests_.give_back(slot);
  retired_.clear();
  for (const Slot slot : p.finished) {
    requests_[slot].chain.clear();
    ++requests_[slot].epoch;
    if (setup_.limits.async_scheduling)
      retired_.push_back(slot);
    else
      requests_.give_back(slot);
  }
  if (!p.finished.empty())
    recorder_.engine_state(setup_.engine_index, now,
                           profile_->usable_blocks() - profile_->free_blocks(),
                           p.running - static_cast<std::int64_t>(p.finished.size()), p.waiting);
  report_ = {p.waiting, p.running - static_cast<std::int64_t>(p.finished.size()), 0};
  report_.kv_usage = 1 - static_cast<double>(profile_->free_blocks()) /
                             static_cast<double>(profile_->usable_blocks());
  p.clear();
  previous_end_ = now;
}

void Engine::report_finished(Slot slot, Time now) {
  const RequestState& r = requests_[slot];
  recorder_.request_finished({.index = r.spec.index,
                              .id = r.spec.id,
                              .session = r.spec.session,
                              .pool = setup_.pool_index,
                              .engine = setup_.engine_index,
                              .prompt_tokens = r.prompt_tokens,
                              .output_tokens = r.tokens - r.prompt_tokens,
                              .cached_tokens = r.cached_tokens,
                              .preemptions = r.preemptions,
                              .arrival = r.spec.arrival,
                              .first_scheduled = r.first_scheduled,
                              .first_token = r.first_token,
                              .end = now});
  ended_.push_back({r.spec.index, r.spec.prompt_tokens});
}

void Engine::emit_tokens(Time now) {
  std::int64_t steady = 0;  // measured requests whose previous token came with the previous step
  std::int64_t emitted = 0;
  const Time before = previous_end_;
  for (const StepPlan::Scheduled& item : plan().scheduled) {
    if (item.emitted == 0) continue;
    RequestState& r = requests_[item.slot];
    // Tokens drafted beyond the end are cut off.
    const std::int32_t fresh = std::min(item.emitted, r.stop_at - r.tokens);
    r.tokens += fresh;
    emitted += r.measured ? fresh : 0;
    if (r.last_token == before)
      steady += r.measured;
    else if (r.last_token.nanoseconds() < 0)
      r.first_token = now;
    else if (r.measured)
      recorder_.gap(now - r.last_token, 1);
    r.last_token = now;
  }
  if (steady > 0) recorder_.gap(now - previous_end_, steady);
  recorder_.output_tokens(now, emitted);
}

void Engine::sample_bill() {
  if (setup_.cost->source() == cost::Source::constant) return;
  const cost::StepBill bill = setup_.cost->bill(shape_);
  bills_.add(bill, setup_.cost->spread(shape_), setup_.power ? setup_.power->load(bill) : 0,
             totals_.steps);
}

Engine::Totals Engine::totals() const {
  Totals t = totals_;
  t.times = bills_.totals(computing_s(), t.steps);
  if (const double waited = to_seconds(t.loading); waited > 0) {
    OperatorUse& load = t.times.operators.emplace_back();
    load.name = "host_load";
    load.seconds = waited;
    load.by_binds[static_cast<std::size_t>(cost::Binds::link)] = waited;
    load.by_source[static_cast<std::size_t>(cost::Source::datasheet)] = waited;
    t.times.by_binds[static_cast<std::size_t>(cost::Binds::link)] += waited;
    t.times.by_source[static_cast<std::size_t>(cost::Source::datasheet)] += waited;
  }
  return t;
}

}  // namespace kvsim::engine
