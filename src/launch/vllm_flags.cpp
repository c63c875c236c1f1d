#include <fmt/format.h>

#include "launch/flag_table.h"
#include "launch/translate.h"
#include "launch/values.h"

// vLLM's engine and server arguments (arg_utils.py and cli_args.py, 0.6 to main of 2026-08).
namespace kvsim::launch {
namespace {

constexpr FlagRow rows[] = {
    {"--model,--model-tag", Take::model},
    // Deployment
    {"--tensor-parallel-size,-tp", Take::integer, "--tensor-parallel-size"},
    {"--pipeline-parallel-size,-pp", Take::integer, "--pipeline-parallel-size"},
    {"--data-parallel-size,-dp", Take::integer, "--data-parallel-size"},
    {"--decode-context-parallel-size,-dcp", Take::integer, "--decode-context-parallel-size"},
    {"--prefill-context-parallel-size,-pcp", Take::unmodelled, "ranks that split a prompt"},
    {"--enable-expert-parallel,-ep", Take::toggle, "--enable-expert-parallel"},
    {"--max-model-len", Take::special},
    {"--max-num-seqs", Take::integer, "--max-num-seqs"},
    {"--max-num-batched-tokens", Take::integer, "--max-num-batched-tokens"},
    {"--block-size", Take::integer, "--block-size"},
    {"--enable-prefix-caching", Take::toggle, "--enable-prefix-caching"},
    {"--enable-chunked-prefill", Take::toggle, "--enable-chunked-prefill"},
    {"--enforce-eager", Take::toggle, "--enforce-eager"},
    // Memory
    {"--gpu-memory-utilization,-gmu", Take::number, "--gpu-memory-utilization"},
    {"--kv-cache-memory-bytes,--kv-cache-memory", Take::bytes, "--kv-cache-memory-bytes"},
    {"--kv-cache-dtype", Take::word, "--kv-cache-dtype"},
    {"--quantization,-q", Take::special},
    {"--dtype", Take::special},
    {"--num-gpu-blocks-override", Take::integer, "--num-gpu-blocks-override"},
    {"--cpu-offload-gb", Take::gibibytes, "--cpu-offload"},
    {"--swap-space", Take::gibibytes, "--swap-space"},
    {"--limit-mm-per-prompt", Take::special},
    {"--language-model-only", Take::special_flag},
    {"--disable-hybrid-kv-cache-manager", Take::toggle, "--disable-hybrid-kv-cache-manager"},
    {"--mamba-ssm-cache-dtype", Take::word, "--mamba-ssm-cache-dtype"},
    {"--mamba-cache-mode", Take::word, "--mamba-cache-mode"},
    {"--mamba-cache-dtype", Take::special},
    {"--mamba-block-size", Take::field_integer, "block size of recurrent states",
     "mamba_block_size"},
    {"--prefix-cache-retention-interval", Take::field_integer, "KV kept for reuse",
     "prefix_cache_retention_interval"},
    {"--prefix-match-unit", Take::field_integer, "KV kept for reuse", "prefix_match_unit"},
    {"--kv-transfer-config", Take::special},
    {"--kv-offloading-size", Take::special},
    {"--kv-offloading-backend", Take::neutral},
    // Speculation
    {"--speculative-config,-sc", Take::special},
    {"--speculative-model", Take::special},
    {"--num-speculative-tokens", Take::special},
    {"--spec-method", Take::special},
    {"--spec-model", Take::special},
    {"--spec-tokens", Take::special},
    {"--speculative-draft-tensor-parallel-size", Take::unmodelled, "the drafter's own split"},
    {"--compilation-config,-cc,-O", Take::special},
    {"--optimization-level", Take::neutral},
    // Touch memory or scheduling, without a flag of plan
    {"--max-cudagraph-capture-size", Take::unmodelled, "size of the CUDA graphs"},
    {"--cudagraph-capture-sizes,--cuda-graph-sizes", Take::unmodelled_list,
     "sizes of the CUDA graphs"},
    {"--max-seq-len-to-capture", Take::unmodelled, "size of the CUDA graphs"},
    {"--long-prefill-token-threshold", Take::field_integer, "scheduling",
     "long_prefill_token_threshold"},
    {"--max-num-partial-prefills", Take::unmodelled, "scheduling"},
    {"--max-long-partial-prefills", Take::unmodelled, "scheduling"},
    {"--scheduling-policy", Take::field_word, "scheduling", "scheduling_policy"},
    {"--async-scheduling", Take::field_on, "scheduling", "async_scheduling"},
    {"--scheduler-reserve-full-isl", Take::field_on, "scheduling", "scheduler_reserve_full_isl"},
    {"--watermark", Take::field_number, "scheduling", "watermark"},
    {"--num-scheduler-steps", Take::unmodelled, "scheduling"},
    {"--use-v2-block-manager", Take::neutral_flag},
    {"--preemption-mode", Take::unmodelled, "scheduling"},
    {"--enable-lora", Take::unmodelled_flag, "memory of the adapters"},
    {"--max-loras", Take::field_integer, "memory of the adapters", "max_loras"},
    {"--max-lora-rank", Take::unmodelled, "memory of the adapters"},
    {"--max-cpu-loras", Take::neutral},
    {"--lora-modules", Take::unmodelled_list, "memory of the adapters"},
    {"--mm-processor-kwargs", Take::unmodelled, "memory of the image profile run"},
    {"--mm-encoder-tp-mode", Take::unmodelled, "weights of the vision encoder per GPU"},
    {"--skip-mm-profiling", Take::unmodelled_flag, "memory of the image profile run"},
    {"--enable-dbo", Take::unmodelled_flag, "overlapped batches"},
    {"--enable-eplb", Take::unmodelled_flag, "redundant experts"},
    {"--eplb-config", Take::unmodelled, "redundant experts"},
    {"--num-redundant-experts", Take::unmodelled, "redundant experts"},
    {"--hf-overrides", Take::unmodelled, "dimensions of the model"},
    {"--rope-scaling", Take::unmodelled, "the longest context"},
    {"--cp-kv-cache-interleave-size,--dcp-kv-cache-interleave-size", Take::neutral},
    {"--calculate-kv-scales", Take::neutral_flag},
    {"--data-parallel-size-local,-dpl", Take::neutral},
    {"--data-parallel-rank,-dpn", Take::neutral},
    {"--data-parallel-address,-dpa", Take::neutral},
    {"--data-parallel-rpc-port,-dpp", Take::neutral},
    {"--data-parallel-start-rank,-dpr", Take::neutral},
    {"--data-parallel-backend,-dpb", Take::neutral},
    {"--data-parallel-hybrid-lb,-dph", Take::neutral_flag},
    {"--data-parallel-external-lb,-dpe", Take::neutral_flag},
    {"--api-server-count,-asc", Take::neutral},
    {"--headless", Take::neutral_flag},
    {"--nnodes,-n", Take::neutral},
    {"--node-rank,-r", Take::neutral},
    {"--master-addr", Take::neutral},
    {"--master-port", Take::neutral},
    {"--distributed-executor-backend", Take::neutral},
    {"--worker-use-ray", Take::neutral_flag},
    {"--max-parallel-loading-workers", Take::neutral},
    {"--disable-custom-all-reduce", Take::neutral_flag},
    {"--all2all-backend", Take::neutral},
    {"--attention-backend", Take::neutral},
    {"--moe-backend", Take::neutral},
    {"--linear-backend", Take::neutral},
    // Names, network, parsing, logs
    {"--tokenizer", Take::neutral},
    {"--tokenizer-mode", Take::neutral},
    {"--tokenizer-revision", Take::neutral},
    {"--skip-tokenizer-init", Take::neutral_flag},
    {"--revision", Take::neutral},
    {"--code-revision", Take::neutral},
    {"--trust-remote-code", Take::neutral_flag},
    {"--served-model-name", Take::neutral_list},
    {"--download-dir", Take::neutral},
    {"--load-format", Take::neutral},
    {"--model-loader-extra-config", Take::neutral},
    {"--safetensors-load-strategy", Take::neutral},
    {"--config-format", Take::neutral},
    {"--hf-config-path", Take::neutral},
    {"--hf-token", Take::neutral},
    {"--generation-config", Take::neutral},
    {"--override-generation-config", Take::neutral},
    {"--runner", Take::neutral},
    {"--task", Take::neutral},
    {"--seed", Take::neutral},
    {"--device", Take::neutral},
    {"--host", Take::neutral},
    {"--port", Take::neutral},
    {"--uds", Take::neutral},
    {"--api-key", Take::neutral_list},
    {"--root-path", Take::neutral},
    {"--uvicorn-log-level", Take::neutral},
    {"--allowed-origins", Take::neutral},
    {"--allowed-methods", Take::neutral},
    {"--allowed-headers", Take::neutral},
    {"--ssl-keyfile", Take::neutral},
    {"--ssl-certfile", Take::neutral},
    {"--middleware", Take::neutral},
    {"--chat-template", Take::neutral},
    {"--chat-template-content-format", Take::neutral},
    {"--default-chat-template-kwargs", Take::neutral},
    {"--response-role", Take::neutral},
    {"--enable-auto-tool-choice", Take::neutral_flag},
    {"--tool-call-parser", Take::neutral},
    {"--tool-parser-plugin", Take::neutral},
    {"--enable-reasoning", Take::neutral_flag},
    {"--reasoning-parser", Take::neutral},
    {"--guided-decoding-backend", Take::neutral},
    {"--structured-outputs-config", Take::neutral},
    {"--logits-processors", Take::neutral_list},
    {"--logits-processor-pattern", Take::neutral},
    {"--max-logprobs", Take::neutral},
    {"--disable-log-requests", Take::neutral_flag},
    {"--enable-log-requests", Take::neutral_flag},
    {"--max-log-len", Take::neutral},
    {"--disable-log-stats", Take::neutral_flag},
    {"--disable-uvicorn-access-log", Take::neutral_flag},
    {"--disable-frontend-multiprocessing", Take::neutral_flag},
    {"--enable-request-id-headers", Take::neutral_flag},
    {"--enable-prompt-tokens-details", Take::neutral_flag},
    {"--enable-server-load-tracking", Take::neutral_flag},
    {"--enable-force-include-usage", Take::neutral_flag},
    {"--enable-tokenizer-info-endpoint", Take::neutral_flag},
    {"--return-tokens-as-token-ids", Take::neutral_flag},
    {"--otlp-traces-endpoint", Take::neutral},
    {"--collect-detailed-traces", Take::neutral},
    {"--show-hidden-metrics-for-version", Take::neutral},
    {"--kv-cache-metrics", Take::neutral_flag},
    {"--kv-events-config", Take::neutral},
    {"--prefix-caching-hash-algo", Take::neutral},
    {"--allowed-local-media-path", Take::neutral},
    {"--media-io-kwargs", Take::neutral},
    {"--mm-processor-cache-gb", Take::neutral},
    {"--disable-mm-preprocessor-cache", Take::neutral_flag},
    {"--disable-sliding-window", Take::unmodelled_flag, "window of the attention"},
    {"--disable-cascade-attn", Take::neutral_flag},
    {"--enable-sleep-mode", Take::neutral_flag},
    {"--additional-config", Take::neutral},
    {"--worker-cls", Take::neutral},
    {"--worker-extension-cls", Take::neutral},
    {"--enable-prompt-embeds", Take::neutral_flag},
    {"--convert", Take::neutral},
    {"--model-impl", Take::neutral},
    {"--subparser", Take::neutral},
    {"--dispatch-function", Take::neutral},
    {"--config", Take::unmodelled, "the flags in that file"},
    {"--stream-interval", Take::neutral},
    {"--performance-mode", Take::unmodelled, "scheduling"},
};

// The name of a drafter in kvsim's words; "" when it has none.
std::string drafter(std::string_view method, std::string_view model) {
  if (method == "ngram" || method == "[ngram]" || method == "suffix" || method == "ngram_gpu")
    return "ngram";
  if (method == "mtp" || ends_with_any(method, {"_mtp"})) return "mtp";
  if (method.empty() && (model == "ngram" || model == "[ngram]")) return "ngram";
  // vLLM then drafts with the layers that the model itself brings.
  if (method.empty() && model.empty()) return "mtp";
  if (method == "eagle" || method == "eagle3" || method == "draft_model")
    return std::string(method);
  if (!method.empty()) return "";
  const std::string name = lower(model);
  if (name.find("eagle3") != std::string::npos) return "eagle3";
  if (name.find("eagle") != std::string::npos) return "eagle";
  return "draft_model";
}

void speculation(Translation& out, const Argument& source, const std::string& file,
                 std::string_view method, std::string_view model, std::string_view tokens) {
  const std::string name = drafter(method, model);
  if (name.empty())
    return out.leave(source, fmt::format("drafter \"{}\": its layers and their KV", method));
  if (name == "draft_model" && model.empty())
    refuse_value(source, file, "a draft model beside the method");
  out.set("--speculative-method", name, source);
  if (name == "draft_model") out.set("--draft-model", std::string(model), source);
  if (!tokens.empty()) out.set("--num-speculative-tokens", std::string(tokens), source);
}

void take_speculation(Translation& out, std::span<const Argument> list, const std::string& name) {
  if (const Argument* a = find_argument(list, "--speculative-config")) {
    const std::string& json = a->values.front();
    if (json == "None" || json == "null") return;
    if (!is_json_object(json)) refuse_value(*a, name, "a JSON object");
    const std::string method = json_member(json, "method").value_or("");
    const std::string model = json_member(json, "model").value_or("");
    const std::string tokens = json_member(json, "num_speculative_tokens").value_or("");
    if (method.empty() && model.empty() && tokens.empty())
      refuse_value(*a, name, "a method, a model or num_speculative_tokens");
    speculation(out, *a, name, method, model, tokens);
    if (truth(json_member(json, "parallel_drafting").value_or("")).value_or(false))
      out.leave_field(*a, "all drafts in one pass", "speculative/parallel_drafting", "true");
    return;
  }
  const auto value = [&](const char* one, const char* other, const Argument*& at) -> std::string {
    const Argument* a = find_argument(list, one);
    if (!a) a = find_argument(list, other);
    if (!a) return "";
    at = a;
    return a->values.front();
  };
  const Argument* tokens_at = nullptr;
  const Argument* at = nullptr;
  const std::string tokens = value("--num-speculative-tokens", "--spec-tokens", tokens_at);
  const std::string method = value("--spec-method", "--spec-method", at);
  const std::string model = value("--speculative-model", "--spec-model", at);
  if (at)
    speculation(out, *at, name, method, model, tokens);
  else if (tokens_at && first_name(*tokens_at->row) == "--spec-tokens")
    speculation(out, *tokens_at, name, "", "", tokens);
  else if (tokens_at)
    out.leave(*tokens_at, "no drafter is named");
}

void images(Translation& out, const Argument& a, const std::string& name) {
  const std::string json = json_of_pairs(a.values.front());
  if (!is_json_object(json)) refuse_value(a, name, "image=2 or {\"image\": 2}");
  const auto image = json_member(json, "image");
  if (image && image->starts_with('{')) {
    if (const auto count = json_member(*image, "count")) out.set("--images-per-prompt", *count, a);
    out.leave(a, "the size of an image");
  } else if (image) {
    out.set("--images-per-prompt", *image, a);
  }
  for (const char* kind : {"video", "audio"})
    if (const auto count = json_member(json, kind); count && *count != "0")
      out.leave(a, fmt::format("memory of {} inputs", kind));
}

void compilation(Translation& out, const Argument& a) {
  const std::string& json = a.values.front();
  const auto mode = json_member(json, "cudagraph_mode");
  if (mode && lower(*mode) == "none") return out.set("--enforce-eager", "", a);
  if (json_member(json, "cudagraph_capture_sizes") || json_member(json, "max_capture_size") ||
      json_member(json, "max_cudagraph_capture_size"))
    return out.leave(a, "sizes of the CUDA graphs");
  out.neutral.push_back(a.from);
}

void weights(Translation& out, const Argument& a) {
  const std::string format = weight_format(a.values.front());
  if (format == "?") return out.leave(a, "a weight format that plan has no size for");
  if (format.empty())
    out.neutral.push_back(a.from);
  else
    out.set("--quantization", format, a);
}

void special(Translation& out, std::span<const Argument> list, const std::string& name) {
  for (const Argument& a : list) {
    const std::string_view flag = first_name(*a.row);
    const std::string value = a.values.empty() ? "" : a.values.front();
    if (flag == "--max-model-len") {
      if (value == "auto" || value == "-1")
        out.leave(a, "the longest length that fits; see \"feasible\" in the plan");
      else
        out.set("--max-model-len", integer_value(a, name), a);
    } else if (flag == "--quantization") {
      weights(out, a);
    } else if (flag == "--dtype") {
      const bool wide = value == "float32" || value == "float" || value == "torch.float32";
      wide ? out.leave(a, "weights and KV in 32 bits") : out.neutral.push_back(a.from);
    } else if (flag == "--mamba-cache-dtype") {
      value == "auto" ? out.neutral.push_back(a.from) : out.leave(a, "size of convolution states");
    } else if (flag == "--limit-mm-per-prompt") {
      images(out, a, name);
    } else if (flag == "--language-model-only") {
      if (value.empty() ? !a.negated : truth(value).value_or(true))
        out.set("--images-per-prompt", "0", a);
      else
        out.neutral.push_back(a.from);
    } else if (flag == "--kv-transfer-config") {
      if (value == "None" || value == "null") continue;
      if (!is_json_object(value)) refuse_value(a, name, "a JSON object");
      out.set("--kv-connector", "", a);
    } else if (flag == "--kv-offloading-size") {
      out.set("--kv-connector", "", a);
      out.leave(a, "KV kept on the host");
    } else if (flag == "--compilation-config") {
      compilation(out, a);
    }
  }
  take_speculation(out, list, name);
}

}  // namespace

const EngineFlags& vllm_flags() {
  static constexpr EngineFlags flags{"vllm-v1", rows, special};
  return flags;
}

}  // namespace kvsim::launch
