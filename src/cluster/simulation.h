#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cluster/placement.h"
#include "cluster/replica.h"
#include "cluster/router.h"
#include "engine/engine.h"
#include "metrics/recorder.h"
#include "sim/event_queue.h"
#include "workload/source.h"

namespace kvsim::cluster {

enum class OnUnservable { error, reject };

// The discrete-event loop: requests arrive, a router places them, engines step.
//
// Event order is (time, kind, sequence). At one instant finished steps come first, then arrivals,
// then starts of steps: an arrival exactly at a step's end joins the next step. Idle engines cost
// nothing. One event per step and two per arrival; memory is O(requests in the system).
//
// Engines in lockstep share their events: all that have work start together, and together their
// tokens exist when the slowest is done.
class Simulation {
 public:
  struct Options {
    OnUnservable on_unservable = OnUnservable::error;
    std::vector<Replica> replicas;            // in order, of all engines; empty: each engine alone
    const std::atomic<bool>* stop = nullptr;  // set from outside: end early
    std::function<void(std::int64_t, Time)>
        progress;  // requests ended, simulated time; may be empty
  };

  Simulation(std::vector<std::unique_ptr<engine::Engine>> engines, std::unique_ptr<Router> router,
             workload::RequestSource& source, metrics::Recorder& recorder, Options options);

  // Runs until every request has ended (or `stop`). Throws InputError for a request that can never
  // be served, unless those are rejected. Answers whether the run is complete.
  bool run();
  Time now() const { return now_; }
  const std::vector<std::unique_ptr<engine::Engine>>& engines() const { return engines_; }

 private:
  enum Kind : std::uint8_t { step_done, arrival, delivery, step_start };
  struct Arrival {
    workload::RequestSpec spec;
    bool from_source = false;
    bool measured = false;  // by the recorder
  };

  void pull();
  std::uint32_t take_slot();
  void arrive_together(std::uint32_t first);
  void arrive(std::uint32_t slot);
  // The engine has taken the request off the wire (EngineSetup::request_delay).
  void deliver(std::uint32_t slot, std::uint32_t target);
  // Of an engine alone, or of the whole group that the engine leads.
  void start(std::uint32_t leader);
  void done(std::uint32_t leader);
  void end_step(std::uint32_t engine);
  void follow_ups(std::int64_t index);

  std::vector<std::unique_ptr<engine::Engine>> engines_;
  workload::RequestSource& source_;
  metrics::Recorder& recorder_;
  Options options_;

  // Engines that step at once: the first one leads, and only its entry of `busy` counts.
  struct Group {
    std::uint32_t leader = 0, size = 1;
  };
  std::vector<Group> groups_;    // by engine
  std::vector<char> steps_run_;  // by engine: it takes part in the step that runs
  Placement placement_;

  sim::EventQueue events_;
  Time now_;
  std::vector<Arrival> arrivals_;
  std::vector<std::uint32_t> free_slots_, together_;
  std::vector<std::int64_t> on_the_wire_;  // by engine: requests that arrived and are not delivered
  std::vector<char> busy_;                 // a step runs, or its start is in the queue
  std::int64_t ended_ = 0;
};

}  // namespace kvsim::cluster
