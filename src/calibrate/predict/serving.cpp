#include "calibrate/predict/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cost/step_fill.h"
#include "kvformat/footprint.h"
#include "spec/weights.h"

namespace kvsim::calibrate {
namespace {

// The measured clients send ten times as many prompts as they keep in flight.
constexpr double waves = 10;
constexpr double most_offline_requests = 2048;  // per engine
constexpr std::int64_t chunk_tokens = 8192;     // of prefill in one step
constexpr double memory_share = 0.9;
constexpr double other_bytes = 6e9;  // of each GPU: activations, graphs, libraries

// Names that publications use for a quantized checkpoint of a catalog model.
std::string_view model_id(std::string_view name) {
  if (name == "nvidia/DeepSeek-R1-NVFP4") return "deepseek-r1";
  if (name == "nvidia/DeepSeek-V3.1-NVFP4") return "deepseek-v3";
  if (name == "nvidia/Qwen3-32B-NVFP4") return "qwen3-32b";
  if (name == "Qwen/Qwen3-235B-A22B-FP8") return "qwen3-235b-a22b";
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
    if (!own.starts_with("fp8")) model.quantization = *spec::quantization_preset("fp8");
    return true;
  }
  if (precision == "fp4" || precision == "nvfp4" || precision == "mxfp4") {
    if (own != "mxfp4")
      model.quantization = *spec::quantization_preset(precision == "mxfp4" ? "mxfp4" : "nvfp4");
    return true;
  }
  if (precision == "int4") {
    model.quantization = *spec::quantization_preset("awq");
    return true;
  }
  return false;
}

// Published runs keep the KV cache in fp8 beside fp8 and fp4 weights, gpt-oss apart.
std::string_view kv_format(const spec::ModelSpec& model, const std::string& precision) {
  const bool narrow = precision == "fp8" || precision == "fp4" || precision == "nvfp4";
  return narrow && !model.id.starts_with("gpt-oss") ? "fp8_e4m3" : "bfloat16";
}

cost::StepShape mixed(const spec::ModelSpec& model, std::int64_t decodes, std::int64_t context,
                      std::int64_t prompt) {
  const cost::StepFill fill(model);
  cost::StepShape shape;
  for (std::int64_t i = 0; i < decodes; ++i) fill.add_decode(shape, context);
  if (prompt > 0) fill.add_chunk(shape, 0, prompt, 1);
  return shape;
}

}  // namespace

const ServingPredictor::Deployment& ServingPredictor::deployment(const Serving& run,
                                                                 const spec::GpuSpec& gpu) {
  const std::string key = fmt::format("{}|{}|{}|{}|{}|{}|{}", run.model, run.precision, gpu.id,
                                      run.tp, run.pp, run.attn_dp, run.moe_ep);
  const auto [at, fresh] = built_.try_emplace(key);
  Deployment& d = at->second;
  if (!fresh) return d;
  const auto refuse = [&](std::string why) -> const Deployment& {
    return d.unrepresentable = std::move(why), d;
  };
  if (run.pp > 1) return refuse("pipeline parallel");
  if (run.attn_dp != 1 && run.attn_dp != run.tp)
    return refuse("layout label that is no tensor or data parallel size");
  try {
    d.model = catalog_.model(model_id(run.model));
  } catch (const InputError&) {
    return refuse(fmt::format("model \"{}\" is not in the catalog", run.model));
  }
  if (!apply_precision(d.model, run.precision))
    return refuse(fmt::format("precision \"{}\" is not known", run.precision));
  cost::RooflineOptions options;
  options.plan.tensor_parallel_size = static_cast<int>(run.attn_dp > 1 ? 1 : run.tp);
  options.plan.data_parallel_size = static_cast<int>(run.attn_dp);
  options.plan.enable_expert_parallel = run.attn_dp > 1 || run.moe_ep > 1;
  options.kv_dtype = *kvformat::find_kv_dtype(kv_format(d.model, run.precision));
  for (const spec::LayerGroup& group : d.model.layer_groups)
    if (group.num_heads % options.plan.tensor_parallel_size != 0)
      return refuse("tensor parallel size that does not divide the heads");
  d.cost = cost::make_roofline(d.model, gpu, options);

  kvformat::FootprintOptions split;
  split.plan = options.plan;
  const kvformat::Footprint kv = kvformat::footprint(d.model, options.kv_dtype, split);
  const double weights = spec::weight_bytes(d.model, options.plan, 0, d.model.num_layers).total();
  d.kv_pool =
      memory_share * (static_cast<double>(gpu.usable_memory().value()) - weights - other_bytes);
  if (d.kv_pool <= 0) return refuse("the weights do not fit by our count");
  d.kv_token = kv.bytes_per_token,
  d.kv_sequence = kv.bytes_per_sequence + kv.bytes_per_sequence_extra;
  return d;
}

ServingEstimate ServingPredictor::estimate(const Serving& run, const std::string&,
                                           const spec::GpuSpec& gpu) {
  ServingEstimate out;
  out.unrepresentable = run.unrepresentable;
  if (!out.unrepresentable.empty()) return out;
  if (run.gpus > 8) return out.unrepresentable = "one engine across several nodes", out;
  const Deployment& d = deployment(run, gpu);
  out.unrepresentable = d.unrepresentable;
  if (!out.unrepresentable.empty()) return out;

  // Per attention rank; the ranks of one engine step together.
  const double ranks = static_cast<double>(run.attn_dp);
  const double room =
      std::floor(d.kv_pool / (d.kv_token * (run.prompt + run.output) + d.kv_sequence));
  if (room < 1) return out.unrepresentable = "one request does not fit by our count", out;
  const double wanted = run.concurrency > 0
                            ? std::ceil(static_cast<double>(run.concurrency) / ranks)
                            : most_offline_requests;
  const double running = std::min(wanted, room);
  out.waits_for_kv = run.concurrency > 0 && running < wanted;
  const auto batch = static_cast<std::int64_t>(running);
  const auto prompt = std::max<std::int64_t>(1, std::llround(run.prompt));
  const auto context = std::llround(run.prompt + run.output / 2);

  const double decode = d.cost->step_seconds(mixed(d.model, batch, context, 0));
  // A prompt's own chunks ride on decode steps: what each adds to its step, over the whole prompt.
  const std::int64_t chunk = std::min(prompt, chunk_tokens);
  const double with_chunk = d.cost->step_seconds(mixed(d.model, batch - 1, context, chunk));
  const double without =
      batch > 1 ? d.cost->step_seconds(mixed(d.model, batch - 1, context, 0)) : 0;
  const double prefill =
      (with_chunk - without) * static_cast<double>(prompt) / static_cast<double>(chunk);
  const double alone = d.cost->step_seconds(mixed(d.model, 0, 0, chunk)) *
                       static_cast<double>(prompt) / static_cast<double>(chunk);

  // A request sees about one prefill of each of the others while it decodes.
  out.tpot = decode + (running - 1) * prefill / run.output;
  const double first_wave = alone * (running + 1) / 2;
  const double later_wave = 1.5 * decode + alone;
  out.ttft = run.concurrency == 1 ? alone : (first_wave + (waves - 1) * later_wave) / waves;
  const double gpus = static_cast<double>(run.gpus);
  if (run.concurrency == 0) {
    // Offline: as many as fit, prefills between the steps.
    out.tokens_per_second_gpu =
        ranks * running * run.output / (run.output * decode + running * prefill) / gpus;
    out.ttft = alone;
  } else {
    const double life = later_wave + out.tpot * std::max(0.0, run.output - 1);
    out.tokens_per_second_gpu = ranks * running * run.output / life / gpus;
  }
  return out;
}

}  // namespace kvsim::calibrate
