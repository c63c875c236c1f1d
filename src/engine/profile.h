#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/request_table.h"
#include "engine/step.h"

namespace kvsim::engine {

// The numbers a scheduler works with, all defaults resolved.
struct SchedulerLimits {
  std::int64_t max_num_seqs = 0;
  std::int64_t max_num_batched_tokens = 0;
  std::int64_t max_model_len = 0;
  std::int64_t long_prefill_token_threshold = 0;  // 0 = none
  std::int64_t num_blocks = 0;                    // physical, the null block included
  std::int64_t block_tokens = 16;
  bool enable_prefix_caching = true;
  bool enable_chunked_prefill = true;
  bool reserve_full_input = true;
  bool priority_policy = false;
  double watermark = 0;
};

// The scheduler of one engine version: who runs in a step, who waits, who is preempted, which block
// goes first.
//
// Contract: the engine calls submit() for each arrival in order of arrival, then, whenever no step
// is running and has_work(), schedule(); when the step's time is over, release() with the requests
// that it finished. Between the two only submit() may come. Policies draw no random numbers and see
// no clock: a schedule depends on the order of arrivals and the tokens alone. Called once per step
// or request, never per token.
class Profile {
 public:
  virtual ~Profile() = default;

  // Why the request could never run, however empty the engine; nullopt if it can.
  virtual std::optional<std::string> why_unservable(const workload::RequestSpec& spec) const = 0;
  virtual void submit(Slot slot) = 0;
  virtual bool has_work() const = 0;
  // Decides the next step; `plan` comes cleared. `computed` of every scheduled request already
  // includes the step's tokens when this returns.
  virtual void schedule(StepPlan& plan) = 0;
  // These requests have ended with the step: they leave and give their blocks back, in this order.
  virtual void release(std::span<const Slot> finished) = 0;

  virtual std::int64_t usable_blocks() const = 0;
  virtual std::int64_t free_blocks() const = 0;
  virtual std::int64_t block_tokens() const = 0;
  virtual std::int64_t evicted_blocks() const = 0;
  virtual std::int64_t queued() const = 0;  // waiting and running requests
  // Checks the block ledger against the requests' tables; throws InternalError.
  virtual void verify() const = 0;
};

}  // namespace kvsim::engine
