#include <fmt/format.h>

#include <optional>
#include <string>

#include "cli/commands/makers.h"
#include "kvformat/kv_dtype.h"
#include "planner/plan.h"
#include "planner/search.h"
#include "report/plan_json.h"
#include "spec/catalog.h"
#include "spec/weights.h"

namespace kvsim::cli {
namespace {

// Sizes beyond these are slips of the keyboard, and overflow what is computed from them.
constexpr double most_tokens = 1 << 30, most_requests = 1e6, most_bytes = 1e15;

class PlanCommand final : public Command {
 public:
  void describe(Flags& flags) override {
    flags.example("kvsim plan llama-3.1-70b --gpu h100-sxm --tensor-parallel-size 4",
                  "does it fit, and for how many requests");
    flags.example("kvsim plan llama-3.1-8b --gpu l40s --context 8192 --batch 32",
                  "prefill and decode time at one point");
    flags.example("kvsim plan deepseek-v3 --gpu h200-sxm --search --gpus 8",
                  "rank the ways to use eight GPUs");
    flags.positional("MODEL", model_, "catalog id, kvsim model file, or a Hugging Face config.json")
        .require()
        .completes(Complete::model);
    flags.option("--gpu", gpu_, "catalog id or GPU file")
        .value("GPU")
        .require()
        .completes(Complete::gpu);
    engine_flags(flags);
    memory_flags(flags);
    flags.section("Speed and search");
    flags.option("--context", context_, "tokens of each request; default max-model-len")
        .value("N")
        .range({1, most_tokens});
    flags.option("--batch", batch_, "requests in the batch over the deployment; default 1")
        .value("N")
        .range({1, most_requests});
    flags.flag("--search", search_,
               "rank tensor, pipeline and data parallel splits and KV formats");
    flags.option("--gpus", gpus_, "GPUs to search over; default 8").value("N").range({1, 1024});
  }

  Exit run(Context& context) override {
    const spec::Catalog catalog(context.catalog_folders());
    planner::Request request = make_request(catalog);
    planner::Plan plan = planner::make_plan(request);
    plan.given = given();
    std::vector<planner::Candidate> candidates;
    if (search_) candidates = planner::search_deployments(request, gpus_.value_or(8));
    context.print(context.json() ? report::plan_json(plan, candidates)
                                 : report::plan_text(plan, candidates));
    return plan.fits ? Exit::ok : Exit::no;
  }

 private:
  void engine_flags(Flags& flags) {
    flags.section("Deployment");
    flags.option("--engine", engine_, "whose rules; default vllm-v1")
        .words({memory::engine_names.begin(), memory::engine_names.end()});
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
    flags.option("--data-parallel-size,--dp", dp_, "replicas of attention; default 1")
        .value("N")
        .range({1, 1024});
    flags.flag("--enable-expert-parallel", expert_parallel_,
               "whole experts per GPU instead of slices of all");
    flags
        .option("--max-model-len", max_model_len_, "longest request; default the model's positions")
        .value("N")
        .range({1, most_tokens});
    flags
        .option("--max-num-seqs", max_num_seqs_,
                "requests that may run at once; default by GPU memory")
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
  }

  void memory_flags(Flags& flags) {
    flags.section("Memory");
    const config::Range share{0, 1, true};
    flags
        .option("--gpu-memory-utilization", utilization_,
                "vLLM: share of the GPU that is its budget")
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
                "take this as the KV pool of each GPU, skip the budget")
        .value("SIZE")
        .range({1, most_bytes});
    flags.option("--kv-cache-dtype", kv_dtype_, "element type of the KV cache; default auto")
        .words(kvformat::kv_dtype_names());
    flags.option("--quantization", quantization_, "weight format instead of the checkpoint's")
        .words(spec::quantization_names());
    flags.flag("--enforce-eager", enforce_eager_, "no CUDA graphs");
    flags
        .option("--mamba-ssm-cache-dtype", state_dtype_,
                "recurrent state; default auto, the model's")
        .words({"auto", "float32", "float16", "bfloat16"});
  }

  // The fraction flag of the engine; another engine's is refused.
  std::optional<double> fraction(memory::Engine engine) const {
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

  planner::Request make_request(const spec::Catalog& catalog) const {
    planner::Request r;
    r.model = catalog.resolve_model(model_);
    r.gpu = catalog.resolve_gpu(gpu_);
    r.link = catalog.link_of(r.gpu);
    const memory::Engine engine = memory::parse_engine(engine_.value_or("vllm-v1"));
    memory::Options& o = r.options;
    o.rules = memory::resolve_rules(engine, version_.value_or(""));
    o.plan.tensor_parallel_size = tp_.value_or(1);
    o.plan.pipeline_parallel_size = pp_.value_or(1);
    o.plan.data_parallel_size = dp_.value_or(1);
    o.plan.enable_expert_parallel = expert_parallel_;
    o.max_model_len = max_model_len_.value_or(0);
    o.max_num_seqs = max_num_seqs_.value_or(0);
    o.max_num_batched_tokens = max_num_batched_tokens_.value_or(0);
    o.block_tokens = block_size_.value_or(0);
    o.memory_fraction = fraction(engine);
    o.kv_cache_memory = kv_memory_;
    o.enforce_eager = enforce_eager_;
    if (state_dtype_ && *state_dtype_ != "auto") o.state_dtype = spec::parse_dtype(*state_dtype_);
    r.kv_dtype = kv_dtype_.value_or("auto");
    if (quantization_) r.model.quantization = *spec::quantization_preset(*quantization_);
    r.context = context_;
    r.batch = batch_;
    return r;
  }

  std::set<std::string> given() const {
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

  std::string model_, gpu_;
  std::optional<std::string> engine_, version_, kv_dtype_, quantization_, state_dtype_;
  std::optional<int> tp_, pp_, dp_, gpus_;
  std::optional<std::int64_t> max_model_len_, max_num_seqs_, max_num_batched_tokens_, block_size_,
      context_, batch_;
  std::optional<double> utilization_, static_fraction_, free_fraction_;
  std::optional<Bytes> kv_memory_;
  bool expert_parallel_ = false, enforce_eager_ = false, search_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plan() { return std::make_unique<PlanCommand>(); }

}  // namespace kvsim::cli
