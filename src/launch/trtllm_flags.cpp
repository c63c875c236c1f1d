#include "launch/flag_table.h"
#include "launch/translate.h"
#include "units/parse.h"

// trtllm-serve (TensorRT-LLM commands/serve.py, 0.17 to 1.2); names with underscores there.
namespace kvsim::launch {
namespace {

constexpr FlagRow rows[] = {
    {"--model", Take::model},
    {"--tp-size,--tensor-parallel-size,--tp", Take::integer, "--tensor-parallel-size"},
    {"--pp-size,--pipeline-parallel-size,--pp", Take::integer, "--pipeline-parallel-size"},
    {"--ep-size,--moe-expert-parallel-size,--ep", Take::special},
    {"--cp-size,--context-parallel-size", Take::unmodelled, "ranks that split a sequence"},
    {"--cluster-size,--moe-cluster-parallel-size", Take::unmodelled, "ranks of the experts"},
    {"--enable-attention-dp", Take::unmodelled_flag, "attention per rank: give the sizes yourself"},
    {"--max-seq-len", Take::integer, "--max-model-len"},
    {"--max-batch-size", Take::integer, "--max-num-seqs"},
    {"--max-num-tokens", Take::integer, "--max-num-batched-tokens"},
    {"--kv-cache-free-gpu-memory-fraction,--kv-cache-free-gpu-mem-fraction,--free-gpu-memory-"
     "fraction",
     Take::number, "--free-gpu-memory-fraction"},
    {"--kv-cache-dtype", Take::word, "--kv-cache-dtype"},
    {"--tokens-per-block", Take::integer, "--block-size"},
    {"--max-beam-width", Take::special},
    {"--enable-chunked-prefill", Take::toggle, "--enable-chunked-prefill"},
    {"--enable-block-reuse", Take::toggle, "--enable-prefix-caching"},
    {"--disable-kv-cache-reuse", Take::off, "--enable-prefix-caching"},
    {"--capacity-scheduler-policy", Take::field_word, "scheduling", "capacity_scheduler_policy"},
    {"--context-chunking-policy", Take::field_word, "scheduling", "context_chunking_policy"},
    {"--enable-partial-reuse", Take::field_on, "KV kept for reuse", "enable_partial_reuse"},
    {"--copy-on-partial-reuse", Take::field_on, "KV kept for reuse", "copy_on_partial_reuse"},
    {"--host-cache-size,--kv-cache-host-memory-bytes", Take::field_integer, "KV kept on the host",
     "host_cache_size"},
    {"--secondary-offload-min-priority", Take::field_integer, "KV kept on the host",
     "secondary_offload_min_priority"},
    {"--extra-llm-api-options,--config,--extra-config", Take::unmodelled,
     "the settings in that file: give them yourself"},
    {"--gpus-per-node", Take::neutral},
    {"--backend", Take::neutral},
    {"--host", Take::neutral},
    {"--port", Take::neutral},
    {"--log-level", Take::neutral},
    {"--tokenizer", Take::neutral},
    {"--custom-tokenizer", Take::neutral},
    {"--num-postprocess-workers", Take::neutral},
    {"--trust-remote-code", Take::neutral_flag},
    {"--reasoning-parser", Take::neutral},
    {"--tool-parser", Take::neutral},
    {"--chat-template", Take::neutral},
    {"--metadata-server-config-file", Take::neutral},
    {"--server-role", Take::unmodelled, "prefill and decode apart"},
    {"--fail-fast-on-attention-window-too-large", Take::neutral_flag},
    {"--otlp-traces-endpoint", Take::neutral},
    {"--revision", Take::neutral},
    {"--served-model-name", Take::neutral},
};

void special(Translation& out, std::span<const Argument> list, const std::string& name) {
  if (const Argument* a = find_argument(list, "--ep-size")) {
    if (*parse_integer(integer_value(*a, name)) > 1)
      out.set("--enable-expert-parallel", "", *a);
    else
      out.neutral.push_back(a->from);
  }
  if (const Argument* a = find_argument(list, "--max-beam-width")) {
    if (integer_value(*a, name) == "1")
      out.neutral.push_back(a->from);
    else
      out.leave(*a, "KV of every beam");
  }
}

}  // namespace

const EngineFlags& trtllm_flags() {
  static constexpr EngineFlags flags{"trtllm", rows, special};
  return flags;
}

}  // namespace kvsim::launch
