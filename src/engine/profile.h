#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/options/sglang_options.h"
#include "engine/options/static_options.h"
#include "engine/options/trtllm_options.h"
#include "engine/options/vllm_options.h"
#include "engine/request_table.h"
#include "engine/step.h"
#include "kv/groups/group_spec.h"

namespace kvsim::engine {

// The numbers a scheduler works with, all defaults resolved.
struct SchedulerLimits {
  std::int64_t max_num_seqs = 0;
  std::int64_t max_num_batched_tokens = 0;
  std::int64_t max_model_len = 0;
  std::int64_t long_prefill_token_threshold = 0;  // 0 = none
  std::int64_t num_blocks = 0;  // vllm-v1: physical, the null block included; elsewhere usable
  std::int64_t block_tokens = 16;
  std::int64_t host_blocks = 0;  // trtllm: blocks of host_cache_size
  bool enable_prefix_caching = true;
  bool enable_chunked_prefill = true;
  bool reserve_full_input = true;
  bool priority_policy = false;
  double watermark = 0;
  bool async_scheduling = false;
  // What vLLM changed in 2026 (profile vllm-v1-2025).
  kv::FreedBlocks freed_blocks = kv::FreedBlocks::unhashed_first;
  bool one_waiting_queue = false;
  VllmOptions vllm;
  // vllm-v1: the KV cache groups of the model, where one table of full-attention blocks does not
  // serve; vllm.kv_groups replaces them.
  std::vector<kv::GroupSpec> model_groups;
  SglangOptions sglang;
  TrtllmOptions trtllm;
  StaticOptions static_batching;
};

// The scheduler of one engine version: who runs in a step, who waits, who is preempted, which block
// goes first.
//
// Contract: the engine calls submit() for each arrival in order of arrival, and, when has_work(),
// schedule(). Once the step's time is over and its tokens exist (RequestState::tokens counts them),
// complete() with the same plan. Between the two submit() may come; with async_scheduling also the
// schedule() of the next step, which then sees the step's work as done but not its tokens. Policies
// draw no random numbers but from their own seeded stream and see no clock: a schedule depends on
// the order of arrivals and the tokens alone. Called once per step or request, never per token.
class Profile {
 public:
  virtual ~Profile() = default;

  // Why the request could never run, however empty the engine; nullopt if it can.
  virtual std::optional<std::string> why_unservable(const workload::RequestSpec& spec) const = 0;
  virtual void submit(Slot slot) = 0;
  virtual bool has_work() const = 0;
  // Decides the next step. `computed` of every scheduled request already includes the step's tokens
  // when this returns. An empty plan.scheduled says that nothing can run before the step in flight
  // has completed; what was preempted stays in the plan for the next call.
  virtual void schedule(StepPlan& plan) = 0;
  // The step's tokens exist. plan.finished have ended with it: they leave and give their blocks
  // back, in this order. Items whose epoch has passed belong to requests that are gone.
  virtual void complete(const StepPlan& plan) = 0;

  virtual std::int64_t usable_blocks() const = 0;
  virtual std::int64_t free_blocks() const = 0;
  virtual std::int64_t block_tokens() const = 0;
  virtual std::int64_t evicted_blocks() const = 0;
  virtual std::int64_t queued() const = 0;  // waiting and running requests
  // Checks the block ledger against the requests' tables; throws InternalError.
  virtual void verify() const = 0;
};

}  // namespace kvsim::engine
