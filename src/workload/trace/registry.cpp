#include "workload/trace/formats.h"

namespace kvsim::workload {
namespace {

constexpr TraceFormat table[] = {
    {"kvsim", "request list, JSON lines: spans, priorities, sessions, followers", recognises_kvsim,
     open_kvsim},
    {"mooncake",
     "JSON lines: timestamp (ms), lengths, one hash id per 512-token block of the prompt",
     recognises_mooncake, open_mooncake},
    {"azure",
     "Azure LLM inference trace 2023 and 2024, CSV: TIMESTAMP, ContextTokens, GeneratedTokens",
     recognises_azure, open_azure},
    {"burstgpt", "BurstGPT, CSV: Timestamp (s), Request tokens, Response tokens, ...",
     recognises_burstgpt, open_burstgpt},
    {"vidur", "Vidur, CSV: num_prefill_tokens, num_decode_tokens, with or without arrived_at (s)",
     recognises_vidur, open_vidur},
    {"splitwise", "splitwise-sim, CSV: arrival_timestamp (s), prompt_size, token_size, ...",
     recognises_splitwise, open_splitwise},
    {"vllm-bench",
     "result of `vllm bench serve --save-detailed`, JSON: input_lens, output_lens, start_times",
     recognises_vllm_bench, open_vllm_bench},
    {"lengths", "list of [input, output] or of objects with both, JSON or JSON lines; no times",
     recognises_lengths, open_lengths},
};

}  // namespace

std::span<const TraceFormat> trace_formats() { return table; }

}  // namespace kvsim::workload
