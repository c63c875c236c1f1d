#include "cli/explain/topic.h"

namespace kvsim::cli {
namespace {

struct MetricText {
  const char* name;
  const char* summary;
  const char* text;
};

// Definitions as `vllm bench serve` has them; where other tools differ, the text says so.
constexpr MetricText metrics[] = {
    {"ttft_ms", "time to first token: end of the step that makes it, minus arrival",
     "Queueing and every prefill chunk are inside. Network and tokenizer time are not: kvsim "
     "starts where the\n"
     "engine takes the request. GuideLLM's TPOT contains this time; vLLM's and kvsim's do not."},
    {"tpot_ms",
     "time per output token after the first, one value per request: (end - first token) / (n - 1)",
     "A request of one token has none and is left out of the distribution; it counts as 0 against "
     "an SLO, as\n"
     "in vllm bench serve --goodput. AIPerf calls this value inter-token latency."},
    {"itl_ms", "inter-token latency: every gap between successive token events, over all requests",
     "Several tokens of one step (speculation) are one event. Long requests weigh more than in "
     "tpot_ms, and\n"
     "stalls by prefills or preemptions show here first. Kept as (gap, count) pairs; the "
     "statistics are exact."},
    {"e2el_ms", "end-to-end latency: last token minus arrival", ""},
    {"percentiles", "the levels that the pNN fields are given for",
     "Interpolated linearly between order statistics, as numpy.percentile does."},
    {"duration",
     "seconds from time 0 (with a warm-up: from the first measured arrival) to the last end", ""},
    {"completed", "requests that got all their tokens", ""},
    {"failed", "requests that were never served; each is named with its reason", ""},
    {"total_input_tokens", "prompt tokens of completed requests", ""},
    {"total_output_tokens", "output tokens of completed requests", ""},
    {"request_throughput", "completed requests per second of duration", ""},
    {"request_goodput",
     "completed requests per second that kept every limit of slo; null without one",
     "A request is good when its ttft_ms, tpot_ms and e2el_ms are within the limits that are "
     "given. Goodput\n"
     "and not throughput is what to size a deployment by: a saturated one has the best "
     "throughput."},
    {"output_throughput", "output tokens per second of duration", ""},
    {"total_token_throughput", "prompt and output tokens per second of duration", ""},
    {"offered_rate",
     "arrivals per second between the first and the last; null when all come at once",
     "If it is above request_throughput for long, the queue grows as long as the trace lasts: the "
     "verdict\n"
     "then says so, and the TTFT tells how long the trace is, not how good the deployment is."},
    {"max_output_tokens_per_s", "most output tokens within one second", ""},
    {"max_concurrent_requests", "most requests present within one second", ""},
    {"total_blocks", "usable KV blocks of all engines; vLLM's null block is not among them", ""},
    {"peak_used_ratio", "largest share of blocks held by requests at one moment",
     "Cached blocks that no request holds count as free, as in vLLM's kv_cache_usage_perc and "
     "SGLang's\n"
     "token_usage."},
    {"mean_used_ratio", "share of blocks held by requests, in the mean over time", ""},
    {"prefix_query_tokens", "prompt tokens looked up in the prefix cache at first admissions", ""},
    {"prefix_hit_tokens", "prompt tokens found there; whole blocks only", ""},
    {"host_hit_tokens",
     "tokens that a host pool behind the prefix cache brought back at admission; resumed requests "
     "count too",
     ""},
    {"prefix_hit_rate_tokens", "prefix_hit_tokens over prefix_query_tokens",
     "Admissions after a preemption are left out, as in vLLM. SGLang's cache_hit_rate counts the "
     "tokens of\n"
     "prefill batches instead; Mooncake counts blocks (prefix_hit_rate_blocks)."},
    {"prefix_hit_rate_blocks", "blocks found over full blocks looked up", ""},
    {"evicted_blocks", "cached blocks whose content was given up for another request", ""},
    {"preemptions", "times a running request lost its blocks and went back to the queue",
     "It keeps its place by arrival and recomputes prompt and generated tokens when it is admitted "
     "again.\n"
     "Many preemptions mean too many sequences for the KV pool: lower max_num_seqs or enlarge the "
     "pool."},
    {"preempted_tokens", "computed tokens that preemptions threw away", ""},
    {"kv_waste",
     "shares of an engine's KV pool in the mean over the time of its steps, in engines[]",
     "busy is over all steps, under_pressure over those in which a request waits for KV memory or "
     "was put\n"
     "back; pressure_ratio is the part of the time that these take. The shares of each add up to "
     "1:\n"
     "token_states_ratio (slots that hold a token), reserved_ratio (that will), internal_ratio "
     "(held for a\n"
     "request and never filled), external_ratio (between reservations, and what is free while "
     "one waits),\n"
     "free_ratio (free, and nobody waits). A paged pool wastes the end of each request's last "
     "block; a pool\n"
     "of contiguous slots most of itself (docs/explanation/static-batching.md). mean_running is "
     "requests."},
    {"intervals", "figures of summary with _low and _high at the end: where nine cases in ten lie",
     "run simulates the same traffic with all step times at the low and at the high end of their "
     "error, and\n"
     "takes each figure's least and largest value of the three runs. --seeds N adds what N seeds "
     "differ by.\n"
     "null with --intervals off; equal to the figure where steps have a constant time\n"
     "(docs/explanation/intervals.md)."},
    {"operators", "what an engine's busy time consists of, in engines[]: kernel by kernel",
     "seconds and calls are scaled up from sampled steps; share_ratio adds up to 1. binds and "
     "source are those\n"
     "of most of an operator's time. host_load is the wait for KV that comes from the host."},
    {"outside_range_ratio",
     "share of an engine's busy time in operators of shapes that nobody measured",
     "Their times are extrapolated; octaves_outside says over how many doublings at most. Above "
     "5 % a warning\n"
     "says so. 0 where nothing was calibrated: a data sheet has no range."},
    {"gpu_hours", "GPUs of the deployment times duration", ""},
    {"usd_per_million_output_tokens",
     "price of the GPU hours over output tokens; null without a price",
     "Idle time is paid for too: on an open-loop trace at a low rate this says how badly the GPUs "
     "are used."},
    {"usd_per_million_total_tokens", "the same over prompt and output tokens", ""},
    {"energy_wh",
     "estimated energy of the GPUs over the duration, good to about 25 %; null without a power "
     "limit",
     "Steps draw by the shares of the bandwidth and matrix peaks that they use, GPUs between steps "
     "15 % of the\n"
     "limit; hosts, networks and cooling are not in it (docs/explanation/energy.md). Null under "
     "constant steps."},
    {"energy_wh_per_million_output_tokens", "energy_wh over output tokens",
     "Idle GPUs are in it: fuller batches and higher rates bring it down."},
    {"mean_power_w", "watts of one GPU in the mean over the duration, in engines[]", ""},
};

}  // namespace

void add_metric_topics(std::vector<Topic>& out) {
  for (const MetricText& m : metrics) out.push_back({"metric", m.name, m.summary, m.text});
}

}  // namespace kvsim::cli
