#include <fmt/format.h>

#include "launch/flag_table.h"
#include "launch/translate.h"
#include "launch/values.h"
#include "units/parse.h"

// SGLang's server arguments (server_args.py, 0.4 to main of 2026-07).
namespace kvsim::launch {
namespace {

constexpr FlagRow rows[] = {
    {"--model-path,--model", Take::model},
    {"--tp-size,--tp,--tensor-parallel-size", Take::special},
    {"--pp-size,--pp,--pipeline-parallel-size", Take::integer, "--pipeline-parallel-size"},
    {"--dp-size,--dp,--data-parallel-size", Take::special},
    {"--enable-dp-attention", Take::special_flag},
    {"--ep-size,--ep,--expert-parallel-size", Take::special},
    {"--enable-ep-moe", Take::on, "--enable-expert-parallel"},
    {"--dcp-size,--decode-context-parallel-size", Take::integer, "--decode-context-parallel-size"},
    {"--moe-dp-size", Take::unmodelled, "ranks of the experts"},
    {"--attn-cp-size", Take::unmodelled, "ranks that split a prompt"},
    {"--moe-dense-tp-size", Take::unmodelled, "weights of dense layers per GPU"},
    {"--enable-dp-lm-head", Take::unmodelled_flag, "weights of the output head per GPU"},
    {"--context-length", Take::integer, "--max-model-len"},
    {"--chunked-prefill-size", Take::special},
    {"--max-prefill-tokens", Take::field_integer, "scheduling", "max_prefill_tokens"},
    {"--max-running-requests", Take::integer, "--max-num-seqs"},
    {"--max-total-tokens", Take::integer, "--max-total-tokens"},
    {"--mem-fraction-static", Take::number, "--mem-fraction-static"},
    {"--kv-cache-dtype", Take::word, "--kv-cache-dtype"},
    {"--quantization", Take::special},
    {"--dtype", Take::special},
    {"--page-size", Take::integer, "--block-size"},
    {"--disable-cuda-graph", Take::on, "--enforce-eager"},
    {"--cuda-graph-max-bs", Take::unmodelled, "sizes of the CUDA graphs"},
    {"--cuda-graph-bs", Take::unmodelled_list, "sizes of the CUDA graphs"},
    {"--enable-piecewise-cuda-graph", Take::unmodelled_flag, "size of the CUDA graphs"},
    {"--disable-piecewise-cuda-graph", Take::neutral_flag},
    {"--disable-radix-cache", Take::off, "--enable-prefix-caching"},
    {"--mamba-full-memory-ratio", Take::number, "--mamba-full-memory-ratio"},
    {"--mamba-ssm-dtype", Take::word, "--mamba-ssm-cache-dtype"},
    {"--max-mamba-cache-size", Take::unmodelled, "slots of recurrent states"},
    {"--mamba-radix-cache-strategy,--mamba-scheduler-strategy", Take::unmodelled,
     "recurrent states kept per request"},
    {"--mamba-track-interval", Take::neutral},
    {"--mamba-backend", Take::neutral},
    {"--swa-full-tokens-ratio", Take::number, "--swa-full-tokens-ratio"},
    {"--disable-hybrid-swa-memory", Take::on, "--disable-hybrid-kv-cache-manager"},
    {"--cpu-offload-gb", Take::gibibytes, "--cpu-offload"},
    {"--speculative-algorithm,--speculative-algo", Take::special},
    {"--speculative-draft-model-path,--speculative-draft-model", Take::special},
    {"--speculative-num-steps", Take::special},
    {"--speculative-eagle-topk", Take::special},
    {"--speculative-num-draft-tokens", Take::special},
    {"--speculative-draft-model-quantization", Take::unmodelled, "weights of the drafter"},
    {"--speculative-token-map", Take::unmodelled, "the drafter's vocabulary"},
    {"--speculative-attention-mode", Take::neutral},
    {"--schedule-policy", Take::field_word, "scheduling", "schedule_policy"},
    {"--schedule-conservativeness", Take::field_number, "scheduling", "schedule_conservativeness"},
    {"--enable-mixed-chunk", Take::field_on, "scheduling", "enable_mixed_chunk"},
    {"--disable-overlap-schedule", Take::field_off, "scheduling", "async_scheduling"},
    {"--enable-priority-scheduling", Take::field_on, "scheduling", "enable_priority_scheduling"},
    {"--schedule-low-priority-values-first", Take::field_on, "scheduling",
     "schedule_low_priority_values_first"},
    {"--priority-scheduling-preemption-threshold", Take::field_integer, "scheduling",
     "priority_scheduling_preemption_threshold"},
    {"--disable-priority-preemption", Take::field_on, "scheduling", "disable_priority_preemption"},
    {"--retraction-policy", Take::field_word, "scheduling", "retraction_policy"},
    {"--max-queued-requests", Take::unmodelled, "scheduling"},
    {"--radix-eviction-policy", Take::field_word, "scheduling", "radix_eviction_policy"},
    {"--num-continuous-decode-steps", Take::unmodelled, "scheduling"},
    {"--enable-two-batch-overlap", Take::unmodelled_flag, "overlapped batches"},
    {"--enable-hierarchical-cache", Take::field_on, "KV kept on the host",
     "enable_hierarchical_cache"},
    {"--hicache-ratio", Take::field_number, "KV kept on the host", "hicache_ratio"},
    {"--hicache-size", Take::unmodelled, "KV kept on the host"},
    {"--hicache-write-policy", Take::field_word, "KV kept on the host", "hicache_write_policy"},
    {"--hicache-storage-backend", Take::unmodelled, "KV kept outside"},
    {"--enable-lmcache", Take::unmodelled_flag, "KV kept outside"},
    {"--disaggregation-mode", Take::unmodelled, "prefill and decode apart"},
    {"--disaggregation-transfer-backend", Take::neutral},
    {"--disaggregation-ib-device", Take::neutral},
    {"--disaggregation-bootstrap-port", Take::neutral},
    {"--ep-num-redundant-experts", Take::unmodelled, "redundant experts"},
    {"--enable-eplb", Take::unmodelled_flag, "redundant experts"},
    {"--enable-lora", Take::unmodelled_flag, "memory of the adapters"},
    {"--lora-paths", Take::unmodelled_list, "memory of the adapters"},
    {"--max-loras-per-batch", Take::field_integer, "memory of the adapters", "max_loras_per_batch"},
    {"--max-lora-rank", Take::unmodelled, "memory of the adapters"},
    {"--enable-multimodal", Take::neutral_flag},
    {"--json-model-override-args", Take::unmodelled, "dimensions of the model"},
    {"--enable-memory-saver", Take::neutral_flag},
    {"--config", Take::unmodelled, "the flags in that file"},
    {"--attention-backend", Take::neutral},
    {"--decode-attention-backend", Take::neutral},
    {"--prefill-attention-backend", Take::neutral},
    {"--sampling-backend", Take::neutral},
    {"--grammar-backend", Take::neutral},
    {"--mm-attention-backend", Take::neutral},
    {"--moe-runner-backend", Take::neutral},
    {"--moe-a2a-backend", Take::neutral},
    {"--fp8-gemm-backend", Take::neutral},
    {"--deepep-mode", Take::neutral},
    {"--enable-deepep-moe", Take::neutral_flag},
    {"--enable-flashinfer-allreduce-fusion", Take::neutral_flag},
    {"--disable-custom-all-reduce", Take::neutral_flag},
    {"--enable-mscclpp", Take::neutral_flag},
    {"--enable-torch-compile", Take::neutral_flag},
    {"--torch-compile-max-bs", Take::neutral},
    {"--disable-shared-experts-fusion", Take::neutral_flag},
    {"--tokenizer-path", Take::neutral},
    {"--tokenizer-mode", Take::neutral},
    {"--tokenizer-worker-num", Take::neutral},
    {"--skip-tokenizer-init", Take::neutral_flag},
    {"--load-format", Take::neutral},
    {"--model-loader-extra-config", Take::neutral},
    {"--trust-remote-code", Take::neutral_flag},
    {"--allow-auto-truncate", Take::neutral_flag},
    {"--is-embedding", Take::neutral_flag},
    {"--revision", Take::neutral},
    {"--model-impl", Take::neutral},
    {"--served-model-name", Take::neutral},
    {"--host", Take::neutral},
    {"--port", Take::neutral},
    {"--nccl-port", Take::neutral},
    {"--dist-init-addr,--nccl-init-addr", Take::neutral},
    {"--nnodes", Take::neutral},
    {"--node-rank", Take::neutral},
    {"--device", Take::neutral},
    {"--base-gpu-id", Take::neutral},
    {"--gpu-id-step", Take::neutral},
    {"--random-seed", Take::neutral},
    {"--watchdog-timeout", Take::neutral},
    {"--dist-timeout", Take::neutral},
    {"--download-dir", Take::neutral},
    {"--log-level", Take::neutral},
    {"--log-level-http", Take::neutral},
    {"--log-requests", Take::neutral_flag},
    {"--log-requests-level", Take::neutral},
    {"--show-time-cost", Take::neutral_flag},
    {"--enable-metrics", Take::neutral_flag},
    {"--enable-cache-report", Take::neutral_flag},
    {"--decode-log-interval", Take::neutral},
    {"--api-key", Take::neutral},
    {"--admin-api-key", Take::neutral},
    {"--ssl-keyfile", Take::neutral},
    {"--ssl-certfile", Take::neutral},
    {"--ssl-keyfile-password", Take::neutral},
    {"--chat-template", Take::neutral},
    {"--completion-template", Take::neutral},
    {"--tool-call-parser", Take::neutral},
    {"--reasoning-parser", Take::neutral},
    {"--stream-interval", Take::neutral},
    {"--stream-output", Take::neutral_flag},
    {"--skip-server-warmup", Take::neutral_flag},
    {"--warmups", Take::neutral},
    {"--load-balance-method", Take::neutral},
    {"--enable-p2p-check", Take::neutral_flag},
    {"--triton-attention-reduce-in-fp32", Take::neutral_flag},
    {"--preferred-sampling-params", Take::neutral},
    {"--enable-custom-logit-processor", Take::neutral_flag},
};

// With attention data parallelism the ranks of the tensor group hold whole requests: kvsim's data
// parallel size, with the experts over all of them.
void parallel_sizes(Translation& out, std::span<const Argument> list, const std::string& name) {
  const Argument* tp = find_argument(list, "--tp-size");
  const Argument* dp = find_argument(list, "--dp-size");
  const Argument* attention = find_argument(list, "--enable-dp-attention");
  const Argument* ep = find_argument(list, "--ep-size");
  const auto number = [&](const Argument* a) {
    return a ? *parse_integer(integer_value(*a, name)) : 1;
  };
  const std::int64_t tensor = number(tp), data = number(dp);
  const bool over_data = attention && !attention->negated &&
                         (attention->values.empty() || truth(attention->values.front()) == true);
  if (over_data && data > 1) {
    if (tensor % data != 0) refuse_value(*dp, name, fmt::format("a divisor of --tp {}", tensor));
    Argument both = *dp;
    both.from = (tp ? tp->from + " " : "") + dp->from + " " + attention->from;
    out.set("--tensor-parallel-size", std::to_string(tensor / data), both);
    out.set("--data-parallel-size", std::to_string(data), both);
    both.from = attention->from;
    out.set("--enable-expert-parallel", "", both);
    if (ep) out.neutral.push_back(ep->from);
    return;
  }
  if (attention) out.neutral.push_back(attention->from);
  if (tp) out.set("--tensor-parallel-size", std::to_string(tensor), *tp);
  if (dp) out.set("--data-parallel-size", std::to_string(data), *dp);
  if (ep && number(ep) > 1)
    out.set("--enable-expert-parallel", "", *ep);
  else if (ep)
    out.neutral.push_back(ep->from);
}

std::string drafter(std::string_view algorithm, bool has_model) {
  const std::string word = lower(algorithm);
  if (word == "eagle3") return "eagle3";
  if (word == "nextn" || (word == "eagle" && !has_model)) return "mtp";
  if (word == "eagle") return "eagle";
  if (word == "standalone") return "draft_model";
  if (word == "ngram") return "ngram";
  return "";
}

void speculation(Translation& out, std::span<const Argument> list, const std::string& name) {
  const Argument* algorithm = find_argument(list, "--speculative-algorithm");
  const Argument* model = find_argument(list, "--speculative-draft-model-path");
  const Argument* steps = find_argument(list, "--speculative-num-steps");
  const Argument* tokens = find_argument(list, "--speculative-num-draft-tokens");
  const Argument* topk = find_argument(list, "--speculative-eagle-topk");
  if (!algorithm) {
    for (const Argument* a : {model, steps, tokens, topk})
      if (a) out.leave(*a, "no --speculative-algorithm is given");
    return;
  }
  const std::string method = drafter(algorithm->values.front(), model != nullptr);
  if (method.empty()) {
    for (const Argument* a : {algorithm, model, steps, tokens, topk})
      if (a) out.leave(*a, "a drafter that plan does not know");
    return;
  }
  out.set("--speculative-method", method, *algorithm);
  if (model && method == "draft_model")
    out.set("--draft-model", model->values.front(), *model);
  else if (model)
    out.leave(*model, "the drafter's dimensions: one layer of the model's own shape is taken");
  // A chain of n steps verifies n + 1 tokens; a tree (top-k above 1) verifies as many as it says.
  const bool tree = topk && integer_value(*topk, name) != "1";
  if (topk && tree) out.leave(*topk, "a tree of drafts: its size is taken as a chain");
  if (topk && !tree) out.neutral.push_back(topk->from);
  if (tokens && (tree || !steps)) {
    const std::int64_t n = *parse_integer(integer_value(*tokens, name)) - 1;
    out.set("--num-speculative-tokens", std::to_string(std::max<std::int64_t>(n, 1)), *tokens);
    if (steps) out.neutral.push_back(steps->from);
  } else if (steps) {
    out.set("--num-speculative-tokens", integer_value(*steps, name), *steps);
    if (tokens) out.neutral.push_back(tokens->from);
  }
}

// Without chunks a step holds the prompts that admission lets in: max_prefill_tokens.
void chunks(Translation& out, const Argument& a, const std::string& name) {
  if (a.values.front() != "-1" && a.values.front() != "0")
    return out.set("--max-num-batched-tokens", integer_value(a, name), a);
  std::string tokens = "16384";
  for (const Leftover& l : out.unmodelled)
    if (l.field == "max_prefill_tokens") tokens = l.value;
  out.set("--no-enable-chunked-prefill", "", a);
  out.set("--max-num-batched-tokens", tokens, a);
}

void special(Translation& out, std::span<const Argument> list, const std::string& name) {
  parallel_sizes(out, list, name);
  if (const Argument* a = find_argument(list, "--chunked-prefill-size")) chunks(out, *a, name);
  if (const Argument* a = find_argument(list, "--quantization")) {
    const std::string format = weight_format(a->values.front());
    if (format == "?")
      out.leave(*a, "a weight format that plan has no size for");
    else if (format.empty())
      out.neutral.push_back(a->from);
    else
      out.set("--quantization", format, *a);
  }
  if (const Argument* a = find_argument(list, "--dtype")) {
    if (lower(a->values.front()).find("32") != std::string::npos || a->values.front() == "float")
      out.leave(*a, "weights and KV in 32 bits");
    else
      out.neutral.push_back(a->from);
  }
  speculation(out, list, name);
}

}  // namespace

const EngineFlags& sglang_flags() {
  static constexpr EngineFlags flags{"sglang", rows, special};
  return flags;
}

}  // namespace kvsim::launch
