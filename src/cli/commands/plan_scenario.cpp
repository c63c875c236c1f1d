#include "cli/commands/plan_scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>

#include "config/document.h"
#include "config/reader.h"
#include "diag/diagnostic.h"
#include "engine/engine_config.h"
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

// Flags of plan and the keys of a scenario's engine that say the same; an engine's own key
// comes first. What is not here, or is another engine's, is left out.
struct Row {
  std::string_view flag, field;
  std::string_view engine = {};  // "" = every one
};
constexpr Row rows[] = {
    {"--tensor-parallel-size", "tensor_parallel_size"},
    {"--pipeline-parallel-size", "pipeline_parallel_size"},
    {"--data-parallel-size", "data_parallel_size", "vllm-v1"},
    {"--enable-expert-parallel", "enable_expert_parallel"},
    {"--max-model-len", "max_model_len"},
    {"--max-num-seqs", "max_num_seqs"},
    {"--max-num-batched-tokens", "chunked_prefill_size", "sglang"},
    {"--max-num-batched-tokens", "max_num_batched_tokens"},
    {"--max-total-tokens", "max_total_tokens", "sglang"},
    {"--block-size", "block_size"},
    {"--gpu-memory-utilization", "gpu_memory_utilization"},
    {"--mem-fraction-static", "gpu_memory_utilization", "sglang"},
    {"--free-gpu-memory-fraction", "gpu_memory_utilization", "trtllm"},
    {"--num-gpu-blocks-override", "num_gpu_blocks_override"},
    {"--kv-cache-dtype", "kv_cache_dtype"},
    {"--quantization", "quantization"},
    {"--mamba-cache-mode", "mamba_cache_mode", "vllm-v1"},
    {"--enable-prefix-caching", "disable_radix_cache", "sglang"},
    {"--enable-prefix-caching", "enable_prefix_caching"},
    {"--enable-chunked-prefill", "enable_chunked_prefill"},
    {"--enforce-eager", "enforce_eager"},
};
// Flags that are written otherwise, or that only choose the point that plan times.
constexpr std::array elsewhere{
    "--engine",  "--engine-version", "--kv-cache-memory-bytes", "--data-parallel-size",
    "--context", "--batch"};
constexpr std::array speculative{"--speculative-method", "--num-speculative-tokens"};

const Row* find_row(std::string_view flag, std::string_view engine) {
  for (const Row& row : rows)
    if (row.flag == flag && (row.engine.empty() || row.engine == engine)) return &row;
  return nullptr;
}

template <class List>
bool holds(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Only vLLM's profiles have drafters.
bool drafts(const memory::Options& o) {
  return o.rules.engine == memory::Engine::vllm_v1 && o.drafter != memory::Drafter::none;
}

bool is_expressed(const std::string& flag, const memory::Options& o) {
  if (holds(speculative, flag)) return o.rules.engine == memory::Engine::vllm_v1;
  return holds(elsewhere, flag) || find_row(flag, memory::name(o.rules.engine)) != nullptr;
}

// Scenarios know data parallel ranks of vLLM; of another engine they are replicas.
bool has_ranks(const memory::Options& o) { return o.rules.engine == memory::Engine::vllm_v1; }

// SGLang says some of it by keys of its own.
void sglang_key(std::string& field, std::string& value, bool chunked) {
  if (field == "chunked_prefill_size" && !chunked) field = "max_prefill_tokens";
  if (field == "disable_radix_cache") value = value == "true" ? "false" : "true";
  if (field == "enable_chunked_prefill" && value == "false")
    field = "chunked_prefill_size", value = "-1";
}

// What is wrong with one key of an engine, "" when it has no such key; nothing when all is well.
std::optional<std::string> problem(const std::string& profile, const launch::Leftover& l) {
  Object e;
  e.word("profile", profile);
  e.word("gpu", "any");
  e.raw(l.field, l.value);
  engine::EngineConfig config;
  Diagnostics diagnostics;
  config::read(config::Document::parse(e.text(), "engine").root(), config, diagnostics);
  if (!diagnostics.has_errors()) return std::nullopt;
  const Diagnostic& d = diagnostics.list().front();
  return d.code == "unknown-key" ? "" : d.message;
}

constexpr std::string_view of_drafter = "speculative/";

// Why a scenario cannot say what `l` says, beside what the flags say; nothing when it can.
std::optional<std::string> refusal(const launch::Leftover& l, const memory::Options& o) {
  if (l.field.starts_with(of_drafter)) {
    if (drafts(o)) return std::nullopt;
    return "no drafter";
  }
  if (l.field == "async_scheduling" && l.value == "true" && drafts(o))
    return "not simulated together with speculative decoding";
  return problem(std::string(memory::name(o.rules.engine)), l);
}

std::string speculative_object(const memory::Options& o,
                               const std::vector<launch::Leftover>& fields) {
  Object s;
  s.word("method", memory::drafter_names[static_cast<std::size_t>(o.drafter)]);
  s.number("num_speculative_tokens", o.speculative_tokens);
  for (const launch::Leftover& l : fields)
    if (l.field.starts_with(of_drafter)) s.raw(l.field.substr(of_drafter.size()), l.value);
  return s.text();
}

std::string engine_object(const PlanFlags& flags, const planner::Request& r,
                          const planner::Plan& plan, const std::vector<launch::Leftover>& fields,
                          const std::string& path) {
  const memory::Options& o = r.options;
  const std::string_view engine = memory::name(o.rules.engine);
  std::set<std::string> written;
  Object e;
  const auto write = [&](const std::string& key, const std::string& json) {
    if (written.insert(key).second) e.raw(key, json);
  };
  e.word("profile", engine);
  if (const auto version = flags.json("--engine-version")) e.raw("engine_version", *version);
  e.word("gpu", reference(flags.gpu(), path));
  if (!o.kv_cache_memory.empty())
    e.number("kv_cache_memory_bytes",
             std::min_element(o.kv_cache_memory.begin(), o.kv_cache_memory.end())->value());
  for (const Row& row : rows) {
    auto value = flags.json(row.flag);
    if (!value || find_row(row.flag, engine) != &row) continue;
    std::string field(row.field);
    if (engine == "sglang") sglang_key(field, *value, o.enable_chunked_prefill.value_or(true));
    // A cap for SGLang, the pool itself for a scenario.
    if (field == "max_total_tokens")
      value = std::to_string(std::min(o.max_total_tokens, plan.blocks * plan.block_tokens));
    write(field, *value);
  }
  if (drafts(o)) e.raw("speculative", speculative_object(o, fields));
  for (const launch::Leftover& l : fields)
    if (!l.field.starts_with(of_drafter)) write(l.field, l.value);
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

// The scenario with that engine; answers the blocks of its pool.
std::int64_t write_text(PlanScenario& out, const std::string& engine, const PlanFlags& flags,
                        const planner::Request& r, const planner::Plan& plan,
                        const std::string& path, const spec::Catalog& catalog) {
  Object pool, scenario;
  pool.word("name", "serve");
  pool.number("replicas", has_ranks(r.options) ? 1 : r.options.plan.data_parallel_size);
  pool.raw("engine", engine);
  scenario.word("schema", scenario::scenario_schema);
  scenario.word("name", plan.model + "-on-" + plan.gpu);
  scenario.word("purpose",
                fmt::format("How does {} on {} serve this workload?", plan.model, plan.gpu));
  scenario.word("model", reference(flags.model(), path));
  scenario.raw("workload", workload_object(plan, out.workload));
  scenario.raw("cluster", R"({"pools":[)" + pool.text() + "]}");
  const std::string text = report::layout(scenario.text());
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const std::int64_t blocks =
      scenario::resolve(config::Document::parse(text, path), folder, catalog)
          .pools.front()
          .num_blocks;
  out.text = text;
  return blocks;
}

// Plan counts what scenarios have no field for, a drafter's weights among them: then its number of
// blocks is the one to run with.
void keep_planned_pool(PlanScenario& out, std::string engine, const PlanFlags& flags,
                       const planner::Request& r, const planner::Plan& plan,
                       const std::string& path, const spec::Catalog& catalog) {
  if (out.blocks == plan.blocks || (out.left_out.empty() && !drafts(r.options))) return;
  engine.pop_back();
  engine += fmt::format(",\"num_gpu_blocks_override\":{}}}", plan.blocks);
  PlanScenario planned = out;
  try {
    planned.blocks = write_text(planned, engine, flags, r, plan, path, catalog);
  } catch (const InputError&) {
    return;  // the pool fits only with what was left out
  }
  if (planned.blocks != plan.blocks) return;
  planned.own_blocks = out.blocks;
  out = std::move(planned);
}

}  // namespace

PlanScenario plan_scenario(const PlanFlags& flags, const planner::Request& r,
                           const planner::Plan& plan, const std::vector<launch::Leftover>& fields,
                           const std::string& path, const spec::Catalog& catalog) {
  check_engine(plan);
  PlanScenario out;
  const int replicas = has_ranks(r.options) ? 1 : r.options.plan.data_parallel_size;
  for (const std::string& flag : flags.names())
    if (!is_expressed(flag, r.options)) out.left_out.push_back(flag);
  std::vector<launch::Leftover> taken;
  for (launch::Leftover l : fields) {
    const std::optional<std::string> why = refusal(l, r.options);
    if (why && !why->empty()) l.why += "; " + *why;
    (why ? out.refused : taken).push_back(std::move(l));
  }
  if (replicas > 1 && r.options.plan.enable_expert_parallel)
    out.left_out.push_back(
        "--data-parallel-size with experts over all ranks (written as replicas)");
  if (r.options.kv_cache_memory.size() > 1)
    out.left_out.push_back("--kv-cache-memory-bytes per worker (the smallest is written)");
  const std::string engine = engine_object(flags, r, plan, taken, path);
  out.blocks = write_text(out, engine, flags, r, plan, path, catalog);
  keep_planned_pool(out, engine, flags, r, plan, path, catalog);
  return out;
}

}  // namespace kvsim::cli
