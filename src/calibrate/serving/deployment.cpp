#include "calibrate/serving/deployment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cost/step_fill.h"
#include "kvformat/footprint.h"
#include "spec/weights.h"

namespace kvsim::calibrate {
namespace {

constexpr double most_offline_requests = 2048;  // per engine

// Catalog models for names of checkpoints in publications.
std::string model_id(const Serving& run) {
  const std::string& name = run.model;
  const bool fp4 = run.precision == "fp4" || run.precision == "nvfp4";
  if (name == "nvidia/DeepSeek-R1-NVFP4") return "deepseek-v3.1-nvfp4";
  if (name == "nvidia/DeepSeek-V3.1-NVFP4") return "deepseek-v3.1-nvfp4";
  if (name == "nvidia/Qwen3-32B-NVFP4") return "qwen3-32b";
  if (name == "Qwen/Qwen3-235B-A22B-FP8") return "qwen3-235b-a22b-fp8";
  if (fp4 && (name == "deepseek-ai/DeepSeek-R1" || name == "dsr1")) return "deepseek-v3.1-nvfp4";
  if (fp4 && name == "moonshotai/Kimi-K2.5") return "kimi-k2.5-nvfp4";
  if (fp4 && name == "MiniMaxAI/MiniMax-M2.5") return "minimax-m2.5-nvfp4";
  if (fp4 && name == "Qwen/Qwen3.5-397B-A17B") return "qwen3.5-397b-a17b-nvfp4";
  return name;
}

// Puts the run's weight precision on the model; false when it is no layout we know.
bool apply_precision(spec::ModelSpec& model, const std::string& precision) {
  const std::string& own = model.quantization.method;
  if (precision.empty() || precision == "bf16" || precision == "fp16" || precision == "bfloat16") {
    if (!precision.empty()) model.quantization = spec::Quantization{};
    return true;
  }
  if (precision == "fp8") {
    if (!own.starts_with("fp8") && own != "mxfp4")
      model.quantization = *spec::quantization_preset("fp8");
    return true;
  }
  if (precision == "fp4" || precision == "nvfp4" || precision == "mxfp4") {
    if (own != "mxfp4" && own != "nvfp4")
      model.quantization = *spec::quantization_preset(precision == "mxfp4" ? "mxfp4" : "nvfp4");
    return true;
  }
  if (precision == "int4") {
    if (own != "compressed-tensors") model.quantization = *spec::quantization_preset("awq");
    return true;
  }
  return false;
}

// Published runs keep the KV cache in fp8 beside fp8 and fp4 weights; gpt-oss and vLLM's MoE
// recipes leave it at the model's type.
std::string_view kv_format(const spec::ModelSpec& model, const std::string& precision,
                           const std::string& framework) {
  const bool narrow = precision == "fp8" || precision == "fp4" || precision == "nvfp4";
  if (!narrow || model.id.starts_with("gpt-oss")) return "bfloat16";
  if (framework == "vllm" && model.moe && !model.id.ends_with("-nvfp4")) return "bfloat16";
  return "fp8_e4m3";
}

cost::Framework framework_of(const std::string& name) {
  if (name == "sglang") return cost::Framework::sglang;
  if (name == "trtllm") return cost::Framework::trtllm;
  return cost::Framework::vllm;
}

}  // namespace

namespace {

Deployment deploy_on(const Serving& run, const std::string& framework, const spec::GpuSpec& gpu,
                     const spec::Catalog& catalog, const cost::CostLibrary* library) {
  Deployment d;
  const auto refuse = [&](std::string why) {
    d.unrepresentable = std::move(why);
    return std::move(d);
  };
  if (run.pp > 1) return refuse("pipeline parallel");
  constexpr std::int64_t most_ranks = 1024;
  if (std::max({run.tp, run.attn_dp, run.moe_ep}) > most_ranks)
    return refuse("layout label that is no parallel size");
  try {
    d.model = catalog.model(model_id(run));
  } catch (const InputError&) {
    return refuse(fmt::format("model \"{}\" is not in the catalog", run.model));
  }
  if (!apply_precision(d.model, run.precision))
    return refuse(fmt::format("precision \"{}\" is not known", run.precision));
  d.gpus = static_cast<double>(run.gpus);
  d.plan.tensor_parallel_size = static_cast<int>(run.attn_dp > 1 ? 1 : run.tp);
  d.plan.data_parallel_size = static_cast<int>(run.attn_dp);
  d.plan.enable_expert_parallel = run.attn_dp > 1 || run.moe_ep > 1;
  if (const std::string why = kvformat::parallel_problem(d.model, d.plan); !why.empty())
    return refuse(why);
  cost::RooflineOptions options;
  options.plan = d.plan;
  options.kv_dtype = *kvformat::find_kv_dtype(kv_format(d.model, run.precision, framework));
  options.cuda_graph_tokens = 512;
  if (library) {
    cost::FittedOptions fitted;
    fitted.deployment = options, fitted.framework = framework_of(framework);
    d.cost = cost::make_fitted(d.model, gpu, fitted, *library);
  }
  if (!d.cost) d.cost = cost::make_roofline(d.model, gpu, options);

  kvformat::FootprintOptions split;
  split.plan = d.plan;
  const kvformat::Footprint kv = kvformat::footprint(d.model, options.kv_dtype, split);
  const double weights = spec::weight_bytes(d.model, d.plan, 0, d.model.num_layers).total();
  const double memory = static_cast<double>(gpu.usable_memory().value());
  // Beside the weights: activations, graphs, libraries.
  d.kv_pool = framework == "trtllm" ? 0.9 * (memory - weights - 6e9) : 0.9 * memory - weights - 4e9;
  if (d.kv_pool <= 0) return refuse("the weights do not fit by our count");
  d.kv_token = kv.bytes_per_token;
  d.kv_sequence = kv.bytes_per_sequence + kv.bytes_per_sequence_extra;
  return d;
}

constexpr std::int64_t fewest_requests = 16;  // that an engine of a chosen size should hold

}  // namespace

Deployment deploy(const Serving& run, const std::string& framework, const spec::GpuSpec& gpu,
                  const spec::Catalog& catalog, const cost::CostLibrary* library) {
  if (run.tp > 0) return deploy_on(run, framework, gpu, catalog, library);
  Deployment d;
  for (std::int64_t tp = 1; tp <= 8; tp *= 2) {
    Serving sized = run;
    sized.tp = sized.gpus = tp;
    d = deploy_on(sized, framework, gpu, catalog, library);
    const double request = d.kv_token * (run.prompt + run.output) + d.kv_sequence;
    if (d.unrepresentable.empty() && d.kv_pool >= fewest_requests * request) break;
  }
  return d;
}

EngineHabits habits_of(const Serving& run, const std::string& framework,
                       const std::string& version) {
  EngineHabits h;
  const bool deepseek = run.model.find("DeepSeek") != std::string::npos || run.model == "dsr1";
  const bool gpt_oss = run.model.find("gpt-oss") != std::string::npos;
  const double in_flight = static_cast<double>(run.concurrency);
  if (framework == "trtllm") {
    h.splits_prompts = false, h.reserves_output = true;
    h.step_tokens = gpt_oss ? 20000 : 16384;
    if (deepseek) h.step_tokens = std::max(8192.0, in_flight + run.prompt / 0.9 + 64);
    // The published recipe of llama at 1,024 tokens in and out below eight GPUs.
    if (run.model.find("70B") != std::string::npos && run.tp < 8 && run.prompt < 1024 &&
        run.output < 1024)
      h.hold_tokens = 0.9 * h.step_tokens, h.hold_steps = 20;
    if (version == "1.0.0rc3" && run.model.find("8B") != std::string::npos) h.idle_slots = 1;
  } else if (framework == "sglang") {
    h.mixes = false;
    h.step_tokens = run.precision == "fp8" ? 32768 : 16384;
    h.receive_interval = in_flight < 16 ? 10 : 30;
  }
  return h;
}

Placed place(const Serving& run, const Deployment& d, const EngineHabits& habits) {
  Placed out;
  const auto refuse = [&](std::string why) {
    out.unrepresentable = std::move(why);
    return out;
  };
  out.ranks = static_cast<double>(run.attn_dp);
  WorkingPoint& w = out.point;
  w.prompt = run.prompt, w.output = run.output;
  // A request holds its prompt and on average half of its output.
  const double held = run.prompt + (habits.reserves_output ? run.output / 0.9 : run.output / 2);
  const double room = std::floor(d.kv_pool / (d.kv_token * held + d.kv_sequence));
  if (room < 1) return refuse("one request does not fit by our count");
  const bool loop = run.concurrency > 0;
  w.in_flight = loop ? std::ceil(static_cast<double>(run.concurrency) / out.ranks)
                     : std::min(room, most_offline_requests);
  w.running = std::min(room, std::max(1.0, w.in_flight - (loop ? habits.idle_slots : 0)));

  const auto batch = static_cast<std::int64_t>(w.running);
  const std::int64_t prompt = std::max<std::int64_t>(1, std::llround(run.prompt));
  const std::int64_t context = std::llround(run.prompt + run.output / 2);
  const auto budget = static_cast<std::int64_t>(habits.step_tokens);
  const std::int64_t chunk = habits.splits_prompts ? std::min(prompt, budget) : prompt;
  w.chunks = static_cast<double>(prompt) / static_cast<double>(chunk);

  const cost::StepFill fill(d.model);
  const auto step = [&](std::int64_t decodes, std::int64_t prompts, std::int64_t tokens) {
    cost::StepShape shape;
    for (std::int64_t i = 0; i < decodes; ++i) fill.add_decode(shape, context);
    // A later chunk of a split prompt attends to what came before: its mean position.
    const std::int64_t before = tokens < prompt ? (prompt - tokens) / 2 : 0;
    for (std::int64_t i = 0; i < prompts; ++i) fill.add_chunk(shape, before, tokens, 1);
    return 1e6 * d.cost->step_seconds(shape);
  };
  w.decode = step(batch, 0, 0), w.decode_less = step(batch - 1, 0, 0);
  w.mixed = step(batch - 1, 1, chunk), w.chunk = step(0, 1, chunk);
  const double fit = static_cast<double>(budget) / static_cast<double>(prompt);
  w.first_wave_prompts = std::clamp(habits.splits_prompts ? fit : std::floor(fit), 1.0, w.running);
  if (fit < 1 && habits.splits_prompts) w.first_wave_prompts = fit;
  w.first_wave_steps = std::ceil(w.running / w.first_wave_prompts);
  w.first_wave =
      step(habits.mixes ? batch / 2 : 0,
           std::max<std::int64_t>(1, static_cast<std::int64_t>(w.first_wave_prompts)), chunk);
  return out;
}

}  // namespace kvsim::calibrate
