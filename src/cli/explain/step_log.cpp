#include "cli/explain/step_log.h"

#include <fmt/format.h>

#include "cli/explain/topic.h"

namespace kvsim::cli {
namespace {

constexpr StepLogField step_fields[] = {
    {"step", "all", "number", "number of the step, from 1 for each engine",
     "Idle time makes no step, nor does a call of the scheduler that finds nothing to do."},
    {"time_s", "all", "seconds", "start of the step",
     "Its tokens exist at its end. An arrival during a step joins the next one."},
    {"engine", "all", "number", "which engine, as numbered in the result's engines[], from 0", ""},
    {"scheduled", "all", "tokens by request", "what the step computes for each request",
     "In the order of scheduling: 1 for a decode, a chunk or the rest of a prompt for a prefill, "
     "drafts included."},
    {"hits", "all", "tokens by request", "prefix found in the cache at admission in this step",
     "After a preemption generated tokens may be among them. Requests that find nothing are left "
     "out."},
    {"preempted", "all", "list of requests",
     "who lost its KV in this step: preempted, retracted (sglang) or paused (trtllm)",
     "In the order in which it happened. Static batching never does it."},
    {"finished", "all", "list of requests", "whose last token this step makes", ""},
    {"running", "all", "requests", "admitted and unfinished, after scheduling",
     "Those that this step finishes still count."},
    {"waiting", "all", "requests", "not admitted, after scheduling; preempted ones too", ""},
    {"free_blocks", "all", "blocks",
     "blocks that no request holds, after the step's allocation and before finished requests leave",
     "Cached blocks that nobody holds are free. Under vllm-v1 the null block is not counted; under "
     "sglang these are the pages of free and evictable slots; under trtllm what no-evict has set "
     "aside for later is free; under static they are what no reservation has taken."},
    {"mode", "sglang", "word", "what the batch is: prefill, decode or mixed", ""},
    {"available", "sglang", "tokens", "slots of the pool that hold nothing", ""},
    {"evictable", "sglang", "tokens", "tokens of the radix tree that no running request locks",
     "They are cached, and given up when slots are needed."},
    {"protected", "sglang", "tokens", "tokens of the radix tree that running requests lock",
     "They cannot be evicted. Slots of a request that are not in the tree yet count neither here "
     "nor as\n"
     "available or evictable."},
    {"new_token_ratio", "sglang", "ratio",
     "share of the outputs still to come that admission reserves for each running request",
     "After the step's decision. It starts at 0.7 x schedule_conservativeness, falls to 14 % of "
     "that over 600\n"
     "decode steps, and a retraction sets it anew: high, and few requests are admitted; low, and "
     "more must be\n"
     "retracted."},
    {"host_used", "sglang, trtllm", "tokens", "what the pool in host memory holds",
     "Only with enable_hierarchical_cache (sglang) or host_cache_size (trtllm)."},
    {"loaded", "sglang, trtllm", "tokens by request",
     "part of the hits that came back from host memory in this step",
     "Left out when nothing was loaded."},
    {"loaded_only", "sglang", "tokens by request",
     "loaded back for a request that was then not admitted",
     "The tokens stay on the device, and its next lookup finds them there."},
};

}  // namespace

std::span<const StepLogField> step_log_fields() { return step_fields; }

void add_step_log_topics(std::vector<Topic>& out) {
  for (const StepLogField& f : step_fields)
    out.push_back(
        {"step log field", f.name, f.meaning,
         fmt::format("{}{}in: {}; profiles: {}", f.text, *f.text ? "\n" : "", f.unit, f.profiles)});
}

}  // namespace kvsim::cli
