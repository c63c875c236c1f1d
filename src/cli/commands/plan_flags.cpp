#include "cli/commands/plan_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/usage.h"
#include "diag/diagnostic.h"
#include "kvformat/kv_dtype.h"
#include "spec/weights.h"
#include "units/parse.h"

namespace kvsim::cli {
namespace {

// Sizes beyond these are slips of the keyboard, and overflow what is computed from them.
constexpr double most_tokens = 1 << 30, most_requests = 1e6, most_bytes = 1e15;
constexpr config::Range share{0, 1, true};

template <std::size_t N>
std::vector<std::string> words_of(const std::array<std::string_view, N>& names) {
  return {names.begin(), names.end()};
}

template <class T, std::size_t N>
T word(const std::array<std::string_view, N>& names, std::string_view text) {
  return static_cast<T>(std::find(names.begin(), names.end(), text) - names.begin());
}

}  // namespace

void PlanFlags::describe(Flags& flags) {
  flags.positional("MODEL", model_, "catalog id, kvsim model file, or a Hugging Face config.json")
      .completes(Complete::model);
  flags.option("--gpu", gpu_, "catalog id or GPU file; needed unless a log tells it")
      .value("GPU")
      .completes(Complete::gpu);
  deployment(flags);
  memory(flags);
  speculation(flags);
  flags.section("Speed");
  flags.option("--context", context_, "tokens of each request; default max-model-len")
      .value("N")
      .range({1, most_tokens});
  flags.option("--batch", batch_, "requests in the batch over the deployment; default 1")
      .value("N")
      .range({1, most_requests});
}

void PlanFlags::deployment(Flags& flags) {
  flags.section("Deployment");
  flags.option("--engine", engine_, "whose rules; default vllm-v1")
      .words(words_of(memory::engine_names));
  flags
      .option("--engine-version", version_,
              "a version or a date; default the version of the recorded traces")
      .value("V");
  flags.option("--tensor-parallel-size,--tp", tp_, "GPUs that share each layer; default 1")
      .value("N")
      .range({1, 1024});
  flags.option("--pipeline-parallel-size,--pp", pp_, "stages of layers; default 1")
      .value("N")
      .range({1, 1024});
  flags
      .option("--pp-layer-partition", partition_,
              "layers of each stage by commas (VLLM_PP_LAYER_PARTITION); default even")
      .value("N,N");
  flags.option("--data-parallel-size,--dp", dp_, "replicas of attention; default 1")
      .value("N")
      .range({1, 1024});
  flags
      .option("--decode-context-parallel-size,--dcp", dcp_,
              "ranks of a tensor group that split each sequence; default 1")
      .value("N")
      .range({1, 1024});
  flags.flag("--enable-expert-parallel", expert_parallel_,
             "whole experts per GPU instead of slices of all");
  flags.option("--max-model-len", max_model_len_, "longest request; default the model's positions")
      .value("N")
      .range({1, most_tokens});
  flags.option("--max-num-seqs", max_num_seqs_, "requests that may run at once; default by GPU")
      .value("N")
      .range({1, most_requests});
  flags
      .option("--max-num-batched-tokens", max_num_batched_tokens_,
              "tokens of one step; default by GPU memory")
      .value("N")
      .range({1, most_tokens});
  flags.option("--block-size", block_size_, "tokens of a KV block; default 16 (vLLM)")
      .value("N")
      .range({1, 1e6});
  flags.flag("--enable-prefix-caching", prefix_caching_, "keep KV for later; default by version");
  flags.flag("--enable-chunked-prefill", chunked_prefill_,
             "prompts in pieces; off: a step holds the longest prompt; default by version");
  flags.flag("--enforce-eager", enforce_eager_, "no CUDA graphs");
}

void PlanFlags::memory(Flags& flags) {
  flags.section("Memory");
  flags
      .option("--gpu-memory-utilization", utilization_, "vLLM: share of the GPU that is its budget")
      .value("F")
      .range(share);
  flags.option("--mem-fraction-static", static_fraction_, "SGLang: share for weights and pools")
      .value("F")
      .range(share);
  flags
      .option("--free-gpu-memory-fraction", free_fraction_,
              "TensorRT-LLM: share of the free memory for KV")
      .value("F")
      .range(share);
  flags
      .option("--kv-cache-memory-bytes", kv_memory_,
              "take this as the KV pool, skip the budget; one size, or one per worker by commas")
      .value("SIZES");
  flags
      .option("--total-memory", total_memory_,
              "memory of each GPU where they differ, as the driver reports it; sizes by commas")
      .value("SIZES");
  flags
      .option("--free-memory", free_memory_,
              "free when the engine starts; one size, or one per GPU by commas")
      .value("SIZES");
  flags.option("--weights-bytes", weights_, "weights as loaded on each GPU, as the log prints them")
      .range({1, most_bytes});
  flags.option("--activation-bytes", activation_, "activation peak, if known")
      .range({0, most_bytes});
  flags.option("--non-torch-bytes", non_torch_, "memory outside the tensor allocator, if known")
      .range({0, most_bytes});
  flags.option("--cuda-graph-bytes", graphs_, "CUDA graphs, if known").range({0, most_bytes});
  flags.option("--kv-cache-dtype", kv_dtype_, "element type of the KV cache; default auto")
      .words(kvformat::kv_dtype_names());
  flags.option("--quantization", quantization_, "weight format instead of the checkpoint's")
      .words(spec::quantization_names());
  flags.option("--images-per-prompt", images_, "limit-mm-per-prompt; default 1, 0 = text only")
      .value("N")
      .range({0, 1e4});
  flags.option("--num-gpu-blocks-override", blocks_, "take this as the number of blocks")
      .value("N")
      .range({1, most_tokens});
  flags.flag("--disable-hybrid-kv-cache-manager", hybrid_off_,
             "charge window layers their full length");
  flags.flag("--kv-connector", connector_, "a KV connector is on: the hybrid manager is off");
  flags.option("--cpu-offload", offload_, "weights kept on the host, of each GPU")
      .range({0, most_bytes});
  flags.option("--swap-space", swap_, "vLLM before V1: host memory for swapped blocks, per GPU")
      .range({0, most_bytes});
  flags
      .option("--mamba-ssm-cache-dtype", state_dtype_, "recurrent state; default auto, the model's")
      .words({"auto", "float32", "float16", "bfloat16"});
  flags.option("--mamba-cache-mode", state_mode_, "which recurrent states are kept; by version")
      .words(words_of(memory::state_cache_mode_names));
  flags
      .option("--mamba-full-memory-ratio", state_ratio_,
              "SGLang: state memory per part of KV; default 0.9")
      .range({0, 1e3, true});
  flags
      .option("--swa-full-tokens-ratio", window_ratio_,
              "SGLang: window slots per full slot; default 0.8")
      .range(share);
  flags.option("--max-total-tokens", max_total_tokens_, "SGLang: cap on the pool")
      .value("N")
      .range({1, most_tokens});
}

void PlanFlags::speculation(Flags& flags) {
  flags.section("Speculative decoding");
  flags.option("--speculative-method", drafter_, "what drafts; default none")
      .words(words_of(memory::drafter_names));
  flags
      .option("--num-speculative-tokens", speculative_tokens_, "tokens drafted per step; default 1")
      .value("N")
      .range({1, 64});
  flags.option("--draft-model", draft_model_, "the drafting model, as MODEL")
      .value("MODEL")
      .completes(Complete::model);
}

// The fraction flag of the engine; another engine's is refused.
std::optional<double> PlanFlags::fraction(memory::Engine engine) const {
  struct Row {
    const char* flag;
    const std::optional<double>& value;
    bool applies;
  };
  const Row rows[] = {
      {"--gpu-memory-utilization", utilization_,
       engine == memory::Engine::vllm_v1 || engine == memory::Engine::static_batching},
      {"--mem-fraction-static", static_fraction_, engine == memory::Engine::sglang},
      {"--free-gpu-memory-fraction", free_fraction_, engine == memory::Engine::trtllm}};
  std::optional<double> result;
  for (const Row& row : rows) {
    if (!row.value) continue;
    if (!row.applies)
      throw UsageError(fmt::format("{} is no flag of engine {}", row.flag, memory::name(engine)),
                       "vllm-v1 has --gpu-memory-utilization, sglang --mem-fraction-static, "
                       "trtllm --free-gpu-memory-fraction");
    result = row.value;
  }
  return result;
}

std::vector<std::int64_t> PlanFlags::partition() const {
  std::vector<std::int64_t> parts;
  if (!partition_) return parts;
  std::string_view rest = *partition_;
  while (true) {
    const std::string_view word = rest.substr(0, rest.find(','));
    const auto layers = parse_integer(word);
    if (!layers || *layers < 1 || *layers > 100000)
      throw UsageError(
          fmt::format("--pp-layer-partition: expected whole numbers, found \"{}\"", word),
          "layers of each stage with commas between, such as 16,32", "usage-value");
    parts.push_back(*layers);
    if (word.size() == rest.size()) return parts;
    rest.remove_prefix(word.size() + 1);
  }
}

std::vector<Bytes> PlanFlags::sizes(const char* flag,
                                    const std::optional<std::string>& text) const {
  std::vector<Bytes> list;
  if (!text) return list;
  std::string_view rest = *text;
  while (true) {
    const std::string_view word = rest.substr(0, rest.find(','));
    const auto size = parse_bytes(word);
    if (!size || size->value() < 1 || static_cast<double>(size->value()) > most_bytes)
      throw UsageError(fmt::format("{}: expected a size such as 80GiB, found \"{}\"", flag, word),
                       "one size, or one per worker with commas between", "usage-value");
    list.push_back(*size);
    if (word.size() == rest.size()) break;
    rest.remove_prefix(word.size() + 1);
  }
  const int workers = tp_.value_or(1) * pp_.value_or(1);
  if (list.size() > 1 && list.size() != static_cast<std::size_t>(workers))
    throw UsageError(fmt::format("{} has {} sizes for {} workers", flag, list.size(), workers),
                     "give one, or one per worker: tensor ranks of the first stage first",
                     "usage-value");
  return list;
}

// Flags that only some engines have; elsewhere they would do nothing.
void PlanFlags::refuse_others(memory::Engine engine) const {
  using memory::Engine;
  const bool vllm = engine == Engine::vllm_v1, sglang = engine == Engine::sglang;
  const bool paged = vllm || sglang || engine == Engine::trtllm;
  struct Row {
    const char* flag;
    bool given, applies;
    const char* whose;
  };
  const Row rows[] = {
      {"--num-gpu-blocks-override", blocks_.has_value(), vllm, "vllm-v1"},
      {"--swap-space", swap_.has_value(), vllm, "vllm-v1"},
      {"--disable-hybrid-kv-cache-manager", hybrid_off_.value_or(false), vllm, "vllm-v1"},
      {"--kv-connector", connector_.value_or(false), vllm, "vllm-v1"},
      {"--mamba-cache-mode", state_mode_.has_value(), vllm, "vllm-v1"},
      {"--enable-chunked-prefill", chunked_prefill_.has_value(), paged, "vllm-v1"},
      {"--max-total-tokens", max_total_tokens_.has_value(), sglang, "sglang"},
      {"--mamba-full-memory-ratio", state_ratio_.has_value(), sglang, "sglang"},
      {"--swa-full-tokens-ratio", window_ratio_.has_value(), sglang, "sglang"}};
  for (const Row& row : rows)
    if (row.given && !row.applies)
      throw UsageError(fmt::format("{} is no flag of engine {}", row.flag, memory::name(engine)),
                       fmt::format("it is for --engine {}", row.whose));
}

void PlanFlags::take_memory(memory::Options& o) const {
  o.memory_fraction = fraction(o.rules.engine);
  o.kv_cache_memory = sizes("--kv-cache-memory-bytes", kv_memory_);
  o.free_memory = sizes("--free-memory", free_memory_);
  o.total_memory = sizes("--total-memory", total_memory_);
  o.stated.weights = weights_, o.stated.activation = activation_, o.stated.non_torch = non_torch_,
  o.stated.cuda_graphs = graphs_;
  o.num_gpu_blocks_override = blocks_;
  o.cpu_offload = offload_.value_or(Bytes(0));
  o.swap_space = swap_;
  o.images_per_prompt = images_;
  o.enforce_eager = enforce_eager_.value_or(false);
  o.enable_prefix_caching = prefix_caching_, o.enable_chunked_prefill = chunked_prefill_;
  o.hybrid_kv_cache_manager = !hybrid_off_.value_or(false);
  o.kv_connector = connector_.value_or(false);
  if (state_dtype_ && *state_dtype_ != "auto") o.state_dtype = spec::parse_dtype(*state_dtype_);
  if (state_mode_)
    o.state_cache_mode = word<memory::StateCacheMode>(memory::state_cache_mode_names, *state_mode_);
  if (state_ratio_) o.state_memory_ratio = *state_ratio_;
  if (window_ratio_) o.window_slot_ratio = *window_ratio_;
  o.max_total_tokens = max_total_tokens_.value_or(0);
}

void PlanFlags::take_speculation(memory::Options& o, const spec::Catalog& catalog) const {
  if (drafter_)
    o.drafter = word<memory::Drafter>(memory::drafter_names, *drafter_);
  else if (draft_model_)
    o.drafter = memory::Drafter::draft_model;
  if (o.drafter == memory::Drafter::none) {
    if (speculative_tokens_ || draft_model_)
      throw UsageError("--num-speculative-tokens needs a drafter", "add --speculative-method mtp");
    return;
  }
  if ((o.drafter == memory::Drafter::draft_model) != draft_model_.has_value())
    throw UsageError("--speculative-method draft_model and --draft-model go together");
  o.speculative_tokens = speculative_tokens_.value_or(1);
  if (draft_model_) o.draft_model = catalog.resolve_model(*draft_model_);
}

planner::Request PlanFlags::request(const spec::Catalog& catalog) const {
  if (model_.empty())
    throw UsageError("plan needs MODEL: a catalog id, a kvsim model file, or a config.json",
                     "see kvsim help plan; --from-command and --from-log name one too",
                     "usage-missing");
  if (gpu_.empty())
    throw UsageError("plan needs --gpu GPU: a catalog id or a GPU file", "see kvsim help plan",
                     "usage-missing");
  planner::Request r;
  r.model = catalog.resolve_model(model_);
  r.gpu = catalog.resolve_gpu(gpu_);
  r.link = catalog.link_of(r.gpu);
  r.costs = std::make_shared<const cost::CostBook>(catalog);
  const memory::Engine engine = memory::parse_engine(engine_.value_or("vllm-v1"));
  memory::Options& o = r.options;
  o.rules = memory::resolve_rules(engine, version_.value_or(""));
  o.plan.tensor_parallel_size = tp_.value_or(1);
  o.plan.pipeline_parallel_size = pp_.value_or(1);
  o.plan.data_parallel_size = dp_.value_or(1);
  o.plan.layer_partition = partition();
  o.plan.enable_expert_parallel = expert_parallel_.value_or(false);
  o.decode_context_parallel_size = dcp_.value_or(1);
  o.max_model_len = max_model_len_.value_or(0);
  o.max_num_seqs = max_num_seqs_.value_or(0);
  o.max_num_batched_tokens = max_num_batched_tokens_.value_or(0);
  o.block_tokens = block_size_.value_or(0);
  r.kv_dtype = kv_dtype_.value_or("auto");
  if (quantization_) r.model.quantization = *spec::quantization_preset(*quantization_);
  refuse_others(engine);
  take_memory(o);
  take_speculation(o, catalog);
  r.context = context_;
  r.batch = batch_;
  return r;
}

std::set<std::string> PlanFlags::given() const {
  std::set<std::string> names;
  auto add = [&](const char* name, bool there) {
    if (there) names.insert(name);
  };
  add("gpu_memory_utilization", utilization_.has_value());
  add("mem_fraction_static", static_fraction_.has_value());
  add("free_gpu_memory_fraction", free_fraction_.has_value());
  add("kv_cache_dtype", kv_dtype_.has_value());
  add("block_size", block_size_.has_value());
  add("max_model_len", max_model_len_.has_value());
  add("context", context_.has_value());
  add("batch", batch_.has_value());
  return names;
}

}  // namespace kvsim::cli
