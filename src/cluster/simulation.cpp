#include "cluster/simulation.h"

#include <fmt/core.h>

#include <algorithm>

#include "diag/check.h"
#include "diag/diagnostic.h"

namespace kvsim::cluster {
namespace {

// A clock of int64 nanoseconds ends after 292 years; far earlier than that the workload is a
// mistake.
constexpr Time end_of_time{100LL * 365 * 86400 * ns_per_second};

[[noreturn]] void too_late(std::string message, std::string hint) {
  Diagnostic d;
  d.code = "arrival-range";
  d.message = std::move(message), d.hint = std::move(hint);
  throw InputError(std::move(d));
}

}  // namespace
namespace {

std::vector<Replica> replicas_of(std::vector<Replica> given, std::size_t engines) {
  if (given.empty())
    for (std::uint32_t i = 0; i < engines; ++i) given.push_back({i});
  return given;
}

}  // namespace

Simulation::Simulation(std::vector<std::unique_ptr<engine::Engine>> engines,
                       std::unique_ptr<Router> router, workload::RequestSource& source,
                       metrics::Recorder& recorder, Options options)
    : engines_(std::move(engines)),
      source_(source),
      recorder_(recorder),
      options_(std::move(options)),
      steps_run_(engines_.size(), 0),
      placement_(std::move(router), replicas_of(options_.replicas, engines_.size())),
      on_the_wire_(engines_.size(), 0),
      busy_(engines_.size(), 0) {
  for (std::uint32_t i = 0; i < engines_.size(); ++i) groups_.push_back({i, 1});
  for (const Replica& r : options_.replicas)
    for (std::uint32_t i = 0; r.stepping == Stepping::lockstep && i < r.ranks; ++i)
      groups_[r.first + i] = {r.first, r.ranks};
}

bool Simulation::run() {
  constexpr std::int64_t poll_every = 1024;
  pull();
  for (std::int64_t turn = 0; !events_.empty(); ++turn) {
    if (turn % poll_every == 0) {
      if (options_.stop && options_.stop->load(std::memory_order_relaxed)) return false;
      if (options_.progress) options_.progress(ended_, now_);
    }
    const sim::Event event = events_.pop();
    KVSIM_CHECK(event.time >= now_, "time runs back to {} ns", event.time.nanoseconds());
    now_ = event.time;
    placement_.advance_to(now_);
    switch (static_cast<Kind>(event.kind())) {
      case step_done:
        done(event.target);
        break;
      case arrival:
        arrive_together(event.payload);
        break;
      case delivery:
        deliver(event.payload, event.target);
        break;
      case step_start:
        start(event.target);
        break;
    }
  }
  for (const auto& engine : engines_) {
    KVSIM_CHECK(!engine->has_work(), "the run ended with requests left in an engine");
    engine->profile().verify();
  }
  return true;
}

std::uint32_t Simulation::take_slot() {
  if (free_slots_.empty()) {
    arrivals_.emplace_back();
    return static_cast<std::uint32_t>(arrivals_.size() - 1);
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

// Keeps exactly one arrival of the source in the queue: sources are read no faster than time goes.
void Simulation::pull() {
  const std::uint32_t slot = take_slot();
  if (!source_.next(arrivals_[slot].spec)) return free_slots_.push_back(slot);
  arrivals_[slot].from_source = true;
  const workload::RequestSpec& spec = arrivals_[slot].spec;
  if (spec.arrival < now_ || spec.arrival > end_of_time)
    too_late(fmt::format("request {} would arrive more than a hundred years into the simulation",
                         spec.id),
             "raise the arrival rate or rate_scale");
  events_.push(arrivals_[slot].spec.arrival, arrival, 0, slot);
}

// Requests that arrive at one instant are placed in the order of their source, follow-ups included.
void Simulation::arrive_together(std::uint32_t first) {
  together_.assign(1, first);
  if (arrivals_[first].from_source) pull();
  while (!events_.empty() && events_.top().time == now_ && events_.top().kind() == arrival) {
    together_.push_back(events_.pop().payload);
    if (arrivals_[together_.back()].from_source) pull();
  }
  if (together_.size() > 1)
    std::ranges::sort(together_, {},
                      [&](std::uint32_t slot) { return arrivals_[slot].spec.index; });
  for (const std::uint32_t slot : together_) arrive(slot);
}

void Simulation::arrive(std::uint32_t slot) {
  workload::RequestSpec& spec = arrivals_[slot].spec;
  const std::int64_t index = spec.index;
  arrivals_[slot].measured = recorder_.arrived(index, now_);
  const std::uint32_t target = placement_.choose(spec);
  engine::Engine& engine = *engines_[target];
  if (const auto reason = engine.why_unservable(spec)) {
    if (options_.on_unservable == OnUnservable::error) {
      Diagnostic d;
      d.code = "request-unservable";
      d.message = fmt::format("request {} can never be served: {}", spec.id, *reason);
      d.hint =
          "change the engine, or set workload.on_unservable to \"reject\" to count such requests "
          "as failed";
      throw InputError(std::move(d));
    }
    recorder_.request_failed(index, spec.id, spec.arrival, now_, *reason);
    ++ended_;
    free_slots_.push_back(slot);
    follow_ups(index);
    return;
  }
  ++on_the_wire_[target];
  placement_.sent(target, spec.prompt_tokens, engine.queued() + on_the_wire_[target]);
  if (engine.request_delay().value() > 0)
    events_.push(now_ + engine.request_delay(), delivery, target, slot);
  else
    deliver(slot, target);
}

void Simulation::deliver(std::uint32_t slot, std::uint32_t target) {
  --on_the_wire_[target];
  Arrival& request = arrivals_[slot];
  engines_[target]->submit(request.spec, request.measured);
  const std::uint32_t leader = groups_[target].leader;
  if (!busy_[leader]) {
    busy_[leader] = 1;
    events_.push(now_, step_start, leader);
  }
  free_slots_.push_back(slot);
}

void Simulation::start(std::uint32_t leader) {
  Duration longest{};
  for (std::uint32_t i = leader; i < leader + groups_[leader].size; ++i) {
    steps_run_[i] = engines_[i]->has_work();
    if (steps_run_[i]) longest = std::max(longest, engines_[i]->begin_step(now_));
  }
  if (longest > end_of_time - now_)
    too_late("a step would end more than a hundred years into the simulation",
             "shorten the steps or the pauses between requests");
  events_.push(now_ + longest, step_done, leader);
}

void Simulation::done(std::uint32_t leader) {
  const std::uint32_t last = leader + groups_[leader].size;
  bool has_work = false;
  for (std::uint32_t i = leader; i < last; ++i) {
    if (steps_run_[i]) end_step(i);
    has_work = has_work || engines_[i]->has_work();
  }
  busy_[leader] = has_work;
  if (has_work) events_.push(now_, step_start, leader);
}

void Simulation::end_step(std::uint32_t target) {
  engine::Engine& engine = *engines_[target];
  engine.end_step(now_);
  for (const engine::Engine::Ended& request : engine.ended()) {
    ++ended_;
    placement_.ended(target, request.prompt_tokens);
    follow_ups(request.index);
  }
  placement_.stepped(target, engine.queued() + on_the_wire_[target], engine.report());
}

void Simulation::follow_ups(std::int64_t index) {
  if (!source_.ended(index, now_)) return;
  for (std::uint32_t slot = take_slot();; slot = take_slot()) {
    if (!source_.follow_up(arrivals_[slot].spec)) return free_slots_.push_back(slot);
    if (arrivals_[slot].spec.arrival > end_of_time)
      too_late(fmt::format("request {} would arrive more than a hundred years into the simulation",
                           arrivals_[slot].spec.id),
               "shorten the pauses between requests");
    arrivals_[slot].from_source = false;
    KVSIM_CHECK(arrivals_[slot].spec.arrival >= now_,
                "request {} arrives before the one it follows has ended", arrivals_[slot].spec.id);
    events_.push(arrivals_[slot].spec.arrival, arrival, 0, slot);
  }
}

}  // namespace kvsim::cluster
