#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/options/trtllm_options.h"
#include "engine/step.h"
#include "kv/block_pool.h"

namespace kvsim::engine {

// TensorRT-LLM's first scheduler: which of the active requests may hold KV in this iteration
// (capacityScheduler.cpp, 02a10fed).
struct CapacityChoice {
  std::vector<std::size_t> chosen;  // positions in the list of active requests
  Refusal refusal = Refusal::none;  // of the first that was left out
};

// What the scheduler asks of the list of active requests, in order of arrival.
//
//   size()                how many there are
//   started(i)            holds blocks
//   started_count()       how many do
//   to_completion(i)      blocks it lacks until its last possible token
//   next_step(i)          blocks that it lacks for its next step; for one that has not started, all
//                         of its prompt
//   free()                free blocks
//   pause(i)              takes its blocks away at once; free() then counts them
//   missing(i)            of one that has not started or whose context is not finished: the first
//                         block of its prompt that no request has computed yet; none if there is
//                         none or reuse is off
//
// Blocks that two requests share become free when the second is paused: pause() says the truth.
template <class Requests>
class CapacityScheduler {
 public:
  CapacityScheduler(CapacitySchedulerPolicy policy, std::int64_t max_num_requests)
      : policy_(policy), max_num_requests_(max_num_requests) {}

  const CapacityChoice& choose(Requests& requests) {
    choice_.chosen.clear();
    choice_.refusal = Refusal::none;
    contributed_.clear();
    note_contexts_in_progress(requests);
    if (policy_ == CapacitySchedulerPolicy::max_utilization)
      use_all(requests);
    else
      evict_nobody(requests);
    return choice_;
  }

 private:
  bool full() const {
    return static_cast<std::int64_t>(choice_.chosen.size()) >= max_num_requests_;
  }

  // A prompt that another request computes just now is worth waiting for.
  bool better_later(const std::optional<kv::BlockHash>& missing) const {
    return missing && std::ranges::find(contributed_, *missing) != contributed_.end();
  }
  void contribute(const std::optional<kv::BlockHash>& missing) {
    if (missing) contributed_.push_back(*missing);
  }
  void note_contexts_in_progress(Requests& requests) {
    std::int64_t left = requests.started_count();
    for (std::size_t i = 0; left > 0 && i < requests.size(); ++i) {
      if (!requests.started(i)) continue;
      contribute(requests.missing(i));
      --left;
    }
  }

  // GUARANTEED_NO_EVICT and STATIC_BATCH: who has started goes on, with all blocks it may come to
  // need set aside; the others join in order while all of theirs fit.
  void evict_nobody(Requests& requests) {
    std::int64_t room = requests.free(), left = requests.started_count();
    const bool empty = left == 0;
    for (std::size_t i = 0; left > 0 && i < requests.size(); ++i) {
      if (!requests.started(i)) continue;
      choice_.chosen.push_back(i);
      room -= requests.to_completion(i);
      --left;
    }
    const bool whole_batches = policy_ == CapacitySchedulerPolicy::static_batch;
    if (whole_batches && !empty) return;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests.started(i)) continue;
      if (full()) {
        choice_.refusal = Refusal::max_num_seqs;
        return;
      }
      const auto missing = requests.missing(i);
      if (!whole_batches && better_later(missing)) continue;
      const std::int64_t need = requests.to_completion(i);
      if (need > room) {
        choice_.refusal = Refusal::kv_blocks;
        return;
      }
      room -= need;
      choice_.chosen.push_back(i);
      contribute(missing);
    }
  }

  // MAX_UTILIZATION: everybody whose next step fits; for one that does not, the last that has
  // started is paused, and nobody behind that one is looked at.
  void use_all(Requests& requests) {
    std::int64_t reserved = 0;
    std::size_t end = requests.size();
    for (std::size_t i = 0; i < end;) {
      const bool fresh = !requests.started(i);
      std::optional<kv::BlockHash> missing;
      if (fresh) {
        missing = requests.missing(i);
        if (better_later(missing)) {
          ++i;
          continue;
        }
      }
      const std::int64_t need = requests.next_step(i);
      if (!full() && reserved + need <= requests.free()) {
        reserved += need;
        choice_.chosen.push_back(i++);
        contribute(missing);
        continue;
      }
      if (choice_.refusal == Refusal::none)
        choice_.refusal = full() ? Refusal::max_num_seqs : Refusal::kv_blocks;
      std::size_t last = requests.started_count() > started_chosen(requests) ? end : i;
      while (last > i && !requests.started(last - 1)) --last;
      if (last == i) return;
      requests.pause(--last);
      choice_.refusal = Refusal::preemption;
      end = last;
    }
  }
  std::int64_t started_chosen(Requests& requests) const {
    return std::ranges::count_if(choice_.chosen,
                                 [&](std::size_t i) { return requests.started(i); });
  }

  CapacitySchedulerPolicy policy_;
  std::int64_t max_num_requests_;
  CapacityChoice choice_;
  std::vector<kv::BlockHash> contributed_;
};

}  // namespace kvsim::engine
