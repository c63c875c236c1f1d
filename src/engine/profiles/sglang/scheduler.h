#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/profile.h"
#include "engine/profiles/sglang/kv_state.h"
#include "engine/profiles/sglang/new_token_ratio.h"
#include "engine/profiles/sglang/prefill_adder.h"
#include "engine/profiles/sglang/waiting_queue.h"

namespace kvsim::engine::sglang {

// SGLang's scheduler loop (managers/scheduler.py, schedule_batch.py; main of 2026-07-20). One step
// is one round of the loop that has a batch:
//
//   1. the chunk computed last goes into the tree; requests whose prefill has ended join those that
//      decode;
//   2. if a prefill batch can be formed it runs, alone or, with mixed chunks, with all decodes;
//   3. otherwise everybody decodes one token; before that, requests are retracted until it fits.
//
// A steady decode step is a few instructions per request and allocates nothing.
class Scheduler final : public Profile {
 public:
  Scheduler(const SchedulerLimits& limits, RequestTable& requests);

  std::optional<std::string> why_unservable(const workload::RequestSpec& spec) const override;
  void submit(Slot slot) override;
  bool has_work() const override { return !waiting_.empty() || kv_.admitted() > 0; }
  void schedule(StepPlan& plan) override;
  void complete(const StepPlan& plan) override;

  std::int64_t usable_blocks() const override { return kv_.pool() / kv_.page(); }
  std::int64_t free_blocks() const override {
    return (kv_.available() + kv_.cache().evictable()) / kv_.page();
  }
  std::int64_t block_tokens() const override { return kv_.page(); }
  std::int64_t evicted_blocks() const override { return kv_.evicted() / kv_.page(); }
  std::int64_t queued() const override {
    return static_cast<std::int64_t>(waiting_.size()) + kv_.admitted();
  }
  void verify() const override { kv_.verify(); }

 private:
  // The batch that decodes. A request that has ended counts, and is reserved for, until the batch
  // is next looked through.
  std::int64_t running_size() const {
    return static_cast<std::int64_t>(running_.size() + ended_remaining_.size());
  }
  std::int64_t steps_in_flight() const { return scheduled_ - completed_; }
  std::int64_t free_seats() const;
  double reservation() const;
  double reservation(std::int64_t remaining) const;

  // loop.cpp
  void form_batch(StepPlan& plan);
  void merge_last_batch();
  bool prefill(StepPlan& plan);
  void add_waiting(StepPlan& plan);
  void stop_adding(PrefillAdder::Verdict verdict);
  void run_prefill(StepPlan& plan);
  void mix_decodes(StepPlan& plan);
  void go_idle();
  void leave(Slot slot);
  void sweep();

  // decode.cpp
  void decode(StepPlan& plan);
  bool schedule_decodes(StepPlan& plan);
  void retract(StepPlan& plan);
  void release(Slot slot, std::int64_t others, StepPlan& plan);
  bool preempt_for(Slot slot, StepPlan& plan);

  SchedulerLimits limits_;
  RequestTable& requests_;
  KvState kv_;
  NewTokenRatio ratio_;
  WaitingQueue waiting_;
  PrefillAdder adder_;
  bool mixed_, preempting_;

  std::vector<Slot> running_;
  std::vector<std::int64_t> ended_remaining_;  // of the ended ones: output tokens they had left
  bool full_ = false;                          // batch_is_full: no admission is tried
  std::vector<Slot> last_;                     // the last prefill batch, less its cut request
  bool last_shrank_ = false;                   // it lost requests since it was formed
  Slot chunked_ = no_slot;                     // the request in the middle of its prefill
  Refusal refusal_ = Refusal::none;

  // Items of the steps in flight that are prefills; in a batch they come first.
  std::array<std::size_t, 2> prefills_{};
  std::int64_t scheduled_ = 0, completed_ = 0;
  Time idle_since_{std::int64_t{-1}};
  std::vector<Slot> victims_, order_;  // reused
};

}  // namespace kvsim::engine::sglang
