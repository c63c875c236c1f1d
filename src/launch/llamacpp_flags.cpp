#include "launch/flag_table.h"
#include "launch/translate.h"
#include "launch/values.h"
#include "units/parse.h"

// llama-server (llama.cpp common/arg.cpp, builds 3000 to 7000).
namespace kvsim::launch {
namespace {

constexpr FlagRow rows[] = {
    {"--model,-m", Take::model},
    {"--hf-repo,-hf,-hfr", Take::model},
    {"--hf-file,-hff", Take::special},
    {"--model-url,-mu", Take::neutral},
    {"--ctx-size,-c", Take::special},
    {"--parallel,-np", Take::special},
    {"--kv-unified,-kvu", Take::special_flag},
    {"--ubatch-size,-ub", Take::integer, "--max-num-batched-tokens"},
    {"--batch-size,-b", Take::neutral},
    {"--cache-type-k,-ctk", Take::special},
    {"--cache-type-v,-ctv", Take::special},
    {"--n-gpu-layers,--gpu-layers,-ngl", Take::special},
    {"--tensor-split,-ts", Take::unmodelled, "how the layers are spread"},
    {"--split-mode,-sm", Take::unmodelled, "how the layers are spread"},
    {"--main-gpu,-mg", Take::neutral},
    {"--device,-dev", Take::unmodelled, "which GPUs are used"},
    {"--n-cpu-moe,-ncmoe", Take::unmodelled, "experts kept on the host"},
    {"--cpu-moe,-cmoe", Take::unmodelled_flag, "experts kept on the host"},
    {"--override-tensor,-ot", Take::unmodelled, "tensors kept on the host"},
    {"--no-kv-offload,-nkvo", Take::unmodelled_flag, "KV kept on the host"},
    {"--swa-full", Take::on, "--disable-hybrid-kv-cache-manager"},
    {"--model-draft,-md", Take::unmodelled, "the drafter's weights and KV"},
    {"--mmproj,-mm", Take::unmodelled, "weights of the vision encoder"},
    {"--lora", Take::unmodelled, "memory of the adapters"},
    {"--defrag-thold,-dt", Take::neutral},
    {"--flash-attn,-fa", Take::special_flag},
    {"--cont-batching,-cb", Take::neutral_flag},
    {"--cache-ram,-cram", Take::neutral},
    {"--cache-reuse", Take::neutral},
    {"--threads,-t", Take::neutral},
    {"--threads-batch,-tb", Take::neutral},
    {"--threads-http", Take::neutral},
    {"--no-mmap", Take::neutral_flag},
    {"--mlock", Take::neutral_flag},
    {"--no-warmup", Take::neutral_flag},
    {"--jinja", Take::neutral_flag},
    {"--chat-template", Take::neutral},
    {"--chat-template-file", Take::neutral},
    {"--chat-template-kwargs", Take::neutral},
    {"--reasoning-format", Take::neutral},
    {"--reasoning-budget", Take::neutral},
    {"--host", Take::neutral},
    {"--port", Take::neutral},
    {"--alias,-a", Take::neutral},
    {"--api-key", Take::neutral},
    {"--api-key-file", Take::neutral},
    {"--hf-token,-hft", Take::neutral},
    {"--metrics", Take::neutral_flag},
    {"--slots", Take::neutral_flag},
    {"--no-webui", Take::neutral_flag},
    {"--embedding,--embeddings", Take::neutral_flag},
    {"--timeout,-to", Take::neutral},
    {"--n-predict,-n", Take::neutral},
    {"--temp", Take::neutral},
    {"--top-p", Take::neutral},
    {"--top-k", Take::neutral},
    {"--min-p", Take::neutral},
    {"--presence-penalty", Take::neutral},
    {"--repeat-penalty", Take::neutral},
    {"--seed,-s", Take::neutral},
    {"--rope-scaling", Take::neutral},
    {"--rope-scale", Take::neutral},
    {"--rope-freq-base", Take::neutral},
    {"--yarn-orig-ctx", Take::neutral},
    {"--verbose,-v", Take::neutral_flag},
    {"--log-file", Take::neutral},
    {"--numa", Take::neutral},
};

// -c counts the cells of all slots together; each of -np slots gets its share.
void lengths(Translation& out, std::span<const Argument> list, const std::string& name) {
  const Argument* context = find_argument(list, "--ctx-size");
  const Argument* slots = find_argument(list, "--parallel");
  const Argument* unified = find_argument(list, "--kv-unified");
  std::int64_t n = slots ? *parse_integer(integer_value(*slots, name)) : 1;
  if (n < 1) {
    out.leave(*slots, "the number of slots is left to the program");
    n = 1, slots = nullptr;
  }
  if (unified && slots) {
    out.leave(*unified, "slots share all cells: taken as one request of the whole context");
    out.leave(*slots, "slots share all cells");
    n = 1, slots = nullptr;
  } else if (unified) {
    out.neutral.push_back(unified->from);
  }
  if (context && integer_value(*context, name) != "0") {
    Argument both = *context;
    if (slots) both.from += " " + slots->from;
    out.set("--max-model-len", std::to_string(*parse_integer(integer_value(*context, name)) / n),
            both);
  } else if (context) {
    out.neutral.push_back(context->from);
  }
  if (slots)
    out.set("--max-num-seqs", std::to_string(n), *slots);
  else
    out.settings.push_back({"--max-num-seqs", "1", "one slot", context ? context->line : 0});
}

void cache_types(Translation& out, std::span<const Argument> list) {
  const Argument* k = find_argument(list, "--cache-type-k");
  const Argument* v = find_argument(list, "--cache-type-v");
  if (k && v && k->values.front() == v->values.front()) {
    Argument both = *k;
    both.from += " " + v->from;
    return out.set("--kv-cache-dtype", k->values.front(), both);
  }
  for (const Argument* a : {k, v}) {
    if (!a) continue;
    if (a->values.front() == "f16")
      out.neutral.push_back(a->from);
    else
      out.leave(*a, "keys and values of different types: give --kv-cache-dtype yourself");
  }
}

// The file names the weights' type, which the name of its repository leaves open.
void file_of_repository(Translation& out, std::span<const Argument> list) {
  const Argument* a = find_argument(list, "--hf-file");
  if (!a) return;
  out.model += (out.model.empty() ? "" : "/") + a->values.front();
  out.model_line = a->line;
}

void special(Translation& out, std::span<const Argument> list, const std::string& name) {
  file_of_repository(out, list);
  lengths(out, list, name);
  cache_types(out, list);
  if (const Argument* a = find_argument(list, "--n-gpu-layers")) {
    const std::string& word = a->values.front();
    const auto layers = parse_integer(word);
    const bool all =
        lower(word) == "all" || word == "auto" || (layers && (*layers >= 99 || *layers < 0));
    if (!all && !layers) refuse_value(*a, name, "a number of layers");
    all ? out.neutral.push_back(a->from)
        : out.leave(*a, "layers kept on the host: plan takes all of them on the GPU");
  }
  if (const Argument* a = find_argument(list, "--flash-attn")) out.neutral.push_back(a->from);
}

}  // namespace

const EngineFlags& llamacpp_flags() {
  static constexpr EngineFlags flags{"llamacpp", rows, special};
  return flags;
}

}  // namespace kvsim::launch
