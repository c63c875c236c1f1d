#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cost/cost_model.h"
#include "cost/power.h"
#include "cost/step_fill.h"
#include "engine/profile.h"
#include "engine/registry.h"
#include "engine/step.h"
#include "engine/step_bills.h"
#include "metrics/recorder.h"

namespace kvsim::engine {

// Receives every step of every engine when it starts, in order of time; engines that start at the
// same time come in any order. What the step will finish is known by then. Called once per step and
// only where a log was asked for.
class StepSink {
 public:
  virtual ~StepSink() = default;
  struct Step {
    std::int64_t number;  // from 1, per engine
    Time start;
    int engine;
    const StepPlan* plan;
    const RequestTable* requests;
  };
  virtual void step(const Step& step) = 0;
};

// What an engine says of itself at the end of a step. Requests that came during the step are not
// among the waiting ones: it has not looked at them yet.
struct EngineReport {
  std::int64_t waiting = 0, running = 0;
  double kv_usage = 0;  // share of the usable blocks that requests hold
};

// Everything one engine needs, resolved.
struct EngineSetup {
  const ProfileEntry* profile = nullptr;
  SchedulerLimits limits;
  std::shared_ptr<const cost::CostModel> cost;  // equal replicas share one; immutable
  const spec::ModelSpec* model = nullptr;
  std::optional<cost::Power> power;  // of one GPU; absent: nothing is said about energy
  Duration request_delay{};          // from a request's arrival to the scheduler's queue
  double host_token_seconds = 0;     // to bring the KV of a token from the host, of all layers
  int engine_index = 0;
  int pool_index = 0;
};

// One serving instance: a scheduler profile, a cost model and the requests it holds. The cluster
// drives it: submit() on arrival, begin_step() when idle with work, end_step() when the step's
// duration is over.
//
// With async_scheduling the step after the one that starts is scheduled at the same moment, before
// the started one's tokens exist (vLLM async_scheduler.py, SGLang's overlap loop): a stop that only
// a token shows is seen one step late. When nothing can be scheduled ahead, the next step is
// scheduled when the running one has ended.
class Engine {
 public:
  Engine(const EngineSetup& setup, metrics::Recorder& recorder, StepSink* sink);

  std::optional<std::string> why_unservable(const workload::RequestSpec& spec) const {
    return profile_->why_unservable(spec);
  }
  // Takes the request; `spec` gets a finished request's buffers in exchange.
  void submit(workload::RequestSpec& spec, bool measured);
  bool has_work() const { return ahead_ || profile_->has_work(); }
  std::int64_t queued() const { return profile_->queued(); }
  // HTTP and tokenisation; the cluster delivers a request this long after it arrived.
  Duration request_delay() const { return setup_.request_delay; }

  // Schedules the next step and answers how long it takes. Requires has_work() and no step running.
  Duration begin_step(Time now);
  // The step's tokens exist. The requests that ended with it are in ended() until the next call.
  void end_step(Time now);
  struct Ended {
    std::int64_t index;  // RequestSpec::index
    std::int64_t prompt_tokens;
  };
  const std::vector<Ended>& ended() const { return ended_; }
  const EngineReport& report() const { return report_; }

  // Totals for the result document.
  struct Totals {
    std::int64_t steps = 0, scheduled_tokens = 0;
    Duration busy{};
    Duration loading{};  // of it, waiting for the host after the step's computation was done
    StepTimes times;     // scaled up from sampled steps; the wait for the host is an operator too
    std::int64_t refused_kv = 0, refused_seqs = 0, refused_tokens = 0;
    std::int64_t truncated = 0;  // requests whose output max_model_len cuts short
    KvUseMeter kv_use;
  };
  Totals totals() const;
  const Profile& profile() const { return *profile_; }
  std::int64_t evicted_blocks() const { return profile_->evicted_blocks(); }

 private:
  StepPlan& plan() { return plans_[current_]; }
  StepPlan& next() { return plans_[current_ ^ 1U]; }
  double load_seconds() const;
  void stamp(StepPlan& plan) const;
  void expect_tokens();
  void expect_rows(StepPlan::Scheduled& item);
  std::int64_t unfilled() const;  // slots at the ends of the last blocks of the step's requests
  void account(Time now);
  void measure_kv(Duration duration);
  void check_progress(Time now);
  [[noreturn]] void stuck(Time now) const;
  void start_requests(Time now);
  void emit_tokens(Time now);
  void report_finished(Slot slot, Time now);
  void sample_bill();
  double computing_s() const { return to_seconds(totals_.busy - totals_.loading); }

  EngineSetup setup_;
  metrics::Recorder& recorder_;
  StepSink* sink_;
  RequestTable requests_;
  std::unique_ptr<Profile> profile_;
  cost::StepFill fill_;
  cost::StepShape shape_;
  std::array<StepPlan, 2> plans_;  // the step that runs, and the one scheduled ahead
  unsigned current_ = 0;
  bool ahead_ = false;
  std::int64_t block_tokens_;
  std::int64_t unfilled_ = 0;
  Time previous_end_{std::int64_t{-2}};  // no request has its newest token from then
  Totals totals_;
  StepBills bills_;
  std::int64_t steps_without_token_ = 0;
  std::int64_t evicted_before_ = 0;
  std::vector<Ended> ended_;
  std::vector<Slot> retired_;  // ended with the last step
  EngineReport report_;
};

}  // namespace kvsim::engine
