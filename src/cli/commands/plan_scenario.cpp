#include "cli/commands/plan_scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "config/document.h"
#include "diag/diagnostic.h"
#include "engine/registry.h"
#include "report/json_layout.h"
#include "scenario/load.h"

namespace kvsim::cli {
namespace {

// Members of a JSON object, in order.
class Object {
 public:
  void word(std::string_view key, std::string_view value) { raw(key, config::json_string(value)); }
  template <class Number>
  void number(std::string_view key, Number value) {
    raw(key, fmt::format("{}", value));
  }
  void raw(std::string_view key, std::string_view json) {
    text_ += fmt::format("{}{}:{}", text_.empty() ? "" : ",", config::json_string(key), json);
  }
  std::string text() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

// A path as the scenario's folder sees it; ids stay.
std::string reference(const std::string& argument, const std::string& path) {
  const bool is_path = argument.starts_with("./") || argument.starts_with("../") ||
                       argument.starts_with('/') || argument.ends_with(".json");
  if (!is_path || argument.starts_with('/')) return argument;
  namespace fs = std::filesystem;
  const fs::path folder = fs::absolute(path).parent_path();
  const std::string relative = fs::absolute(argument).lexically_relative(folder).string();
  return relative.starts_with("..") ? relative : "./" + relative;
}

// Flags that become a field of the engine, or that only choose the point that plan times.
constexpr std::array expressed{"--engine",
                               "--engine-version",
                               "--tensor-parallel-size",
                               "--pipeline-parallel-size",
                               "--data-parallel-size",
                               "--enable-expert-parallel",
                               "--max-model-len",
                               "--max-num-seqs",
                               "--max-num-batched-tokens",
                               "--block-size",
                               "--enable-prefix-caching",
                               "--enable-chunked-prefill",
                               "--enforce-eager",
                               "--gpu-memory-utilization",
                               "--kv-cache-memory-bytes",
                               "--kv-cache-dtype",
                               "--quantization",
                               "--num-gpu-blocks-override",
                               "--context",
                               "--batch"};

// Scenarios know data parallel ranks of vLLM; of another engine they are replicas.
bool has_ranks(const memory::Options& o) { return o.rules.engine == memory::Engine::vllm_v1; }

std::string engine_object(const PlanFlags& flags, const planner::Request& r,
                          const std::string& path) {
  const memory::Options& o = r.options;
  Object e;
  e.word("profile", memory::name(o.rules.engine));
  if (flags.has("--engine-version")) e.word("engine_version", o.rules.first_version);
  e.word("gpu", reference(flags.gpu(), path));
  if (o.plan.tensor_parallel_size > 1)
    e.number("tensor_parallel_size", o.plan.tensor_parallel_size);
  if (o.plan.pipeline_parallel_size > 1)
    e.number("pipeline_parallel_size", o.plan.pipeline_parallel_size);
  if (has_ranks(o) && o.plan.data_parallel_size > 1)
    e.number("data_parallel_size", o.plan.data_parallel_size);
  if (o.plan.enable_expert_parallel) e.raw("enable_expert_parallel", "true");
  if (o.max_model_len > 0) e.number("max_model_len", o.max_model_len);
  if (o.max_num_seqs > 0) e.number("max_num_seqs", o.max_num_seqs);
  if (o.max_num_batched_tokens > 0) e.number("max_num_batched_tokens", o.max_num_batched_tokens);
  if (o.block_tokens > 0) e.number("block_size", o.block_tokens);
  if (o.memory_fraction) e.number("gpu_memory_utilization", *o.memory_fraction);
  if (!o.kv_cache_memory.empty())
    e.number("kv_cache_memory_bytes",
             std::min_element(o.kv_cache_memory.begin(), o.kv_cache_memory.end())->value());
  if (o.num_gpu_blocks_override) e.number("num_gpu_blocks_override", *o.num_gpu_blocks_override);
  if (r.kv_dtype != "auto") e.word("kv_cache_dtype", r.kv_dtype);
  if (flags.has("--quantization")) e.word("quantization", r.model.quantization.method);
  if (o.enable_prefix_caching) e.number("enable_prefix_caching", *o.enable_prefix_caching);
  if (o.enable_chunked_prefill) e.number("enable_chunked_prefill", *o.enable_chunked_prefill);
  if (o.enforce_eager) e.raw("enforce_eager", "true");
  return e.text();
}

// Lengths of which the longest request holds several.
std::string workload_object(const planner::Plan& plan, std::string& words) {
  const std::int64_t length = plan.max_model_len;
  const std::int64_t input = std::clamp<std::int64_t>(length / 8, 1, 512);
  const std::int64_t output = std::clamp<std::int64_t>(length / 16, 1, 128);
  words = fmt::format("100 independent requests, one per second, about {} tokens in and {} out",
                      input, output);
  const auto lengths = [](std::int64_t median) {
    return fmt::format(R"({{"distribution":"lognormal","median":{},"sigma":0.6,"min":1,"max":{}}})",
                       median, median * 4);
  };
  return fmt::format(
      R"({{"generate":{{"kind":"independent","requests":100,"arrival":{{"process":"poisson","rate":1}},)"
      R"("input":{},"output":{}}}}})",
      lengths(input), lengths(output));
}

void check_engine(const planner::Plan& plan) {
  if (engine::find_profile(plan.engine)) return;
  std::string names;
  for (const engine::ProfileEntry& p : engine::profiles())
    names += (names.empty() ? "" : ", ") + std::string(p.name);
  throw InputError(
      Diagnostic{.code = "plan-scenario",
                 .message = fmt::format("engine {} can be planned but not simulated, so no "
                                        "scenario is written",
                                        plan.engine),
                 .hint = "scenarios have profiles for " + names});
}

}  // namespace

PlanScenario plan_scenario(const PlanFlags& flags, const planner::Request& r,
                           const planner::Plan& plan, const std::string& path,
                           const spec::Catalog& catalog) {
  check_engine(plan);
  PlanScenario out;
  const int replicas = has_ranks(r.options) ? 1 : r.options.plan.data_parallel_size;
  for (const std::string& flag : flags.names())
    if (std::find(expressed.begin(), expressed.end(), flag) == expressed.end())
      out.left_out.push_back(flag);
  if (replicas > 1 && r.options.plan.enable_expert_parallel)
    out.left_out.push_back(
        "--data-parallel-size with experts over all ranks (written as replicas)");
  if (r.options.kv_cache_memory.size() > 1)
    out.left_out.push_back("--kv-cache-memory-bytes per worker (the smallest is written)");
  Object pool, scenario;
  pool.word("name", "serve");
  pool.number("replicas", replicas);
  pool.raw("engine", engine_object(flags, r, path));
  scenario.word("schema", scenario::scenario_schema);
  scenario.word("name", plan.model + "-on-" + plan.gpu);
  scenario.word("purpose",
                fmt::format("How does {} on {} serve this workload?", plan.model, plan.gpu));
  scenario.word("model", reference(flags.model(), path));
  scenario.raw("workload", workload_object(plan, out.workload));
  scenario.raw("cluster", R"({"pools":[)" + pool.text() + "]}");
  out.text = report::layout(scenario.text());
  const std::string folder = std::filesystem::path(path).parent_path().string();
  scenario::resolve(config::Document::parse(out.text, path), folder, catalog);
  return out;
}

}  // namespace kvsim::cli
