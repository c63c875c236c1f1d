#pragma once
#include <array>

#include "engine/registry.h"

// What the sglang profile does, rule by rule, with the file of SGLang's main of 2026-07-20 that
// says so.
namespace kvsim::engine {

inline constexpr std::array sglang_rules{
    ProfileRule{"a prefill batch runs before any decode; decodes join it with enable_mixed_chunk",
                "managers/scheduler.py, get_next_batch_to_run"},
    ProfileRule{"once seats or slots are used up nothing is admitted until the batch shrinks",
                "managers/scheduler.py, get_new_batch_prefill"},
    ProfileRule{"one request at a time is in the middle of its prefill, and its next chunk always "
                "runs",
                "managers/schedule_policy.py, PrefillAdder.add_chunked_req"},
    ProfileRule{"admission needs prompt, outputs to come (at most 4096) and a page in free and "
                "evictable slots less new_token_ratio of what the running may still need",
                "managers/schedule_policy.py, PrefillAdder.add_one_req"},
    ProfileRule{"new_token_ratio decays over 600 decode steps to 14 % of its start",
                "scheduler_components/new_token_ratio_tracker.py"},
    ProfileRule{"a decode that does not fit retracts those with the fewest outputs; they lose "
                "their own slots, keep outputs and queue again at the end",
                "managers/schedule_batch.py, retract_decode"},
    ProfileRule{"priority preemption is tried only when max_running_requests is reached",
                "managers/schedule_policy.py, PrefillAdder.preempt_to_schedule"},
    ProfileRule{"KV is shared from the end of a prefill or chunk on, all but the last token of a "
                "prompt, in whole pages",
                "mem_cache/radix_cache.py"},
    ProfileRule{"the overlap loop forms a batch before the results of the one before: a request "
                "decodes once more after its end",
                "managers/scheduler.py, event_loop_overlap"},
    ProfileRule{"host copies are loaded back at admission, 10 tokens or more, all or nothing",
                "mem_cache/hiradix_cache.py"},
};

}  // namespace kvsim::engine
