#include "scenario/pool.h"

#include <fmt/format.h>

#include <algorithm>

#include "diag/suggest.h"
#include "engine/registry.h"
#include "scenario/kv_groups.h"
#include "scenario/sglang.h"
#include "scenario/single_table.h"
#include "spec/weights.h"
#include "units/format.h"

namespace kvsim::scenario {
namespace {

using engine::EngineConfig;

// The most tokens of a prefill step, 0 where the engine decides: what the activations are sized
// for.
std::int64_t step_tokens(const EngineConfig& c) {
  if (c.profile == "sglang" && c.sglang.chunked_prefill_size)
    return *c.sglang.chunked_prefill_size > 0 ? *c.sglang.chunked_prefill_size
                                              : c.sglang.max_prefill_tokens;
  return c.max_num_batched_tokens.value_or(0);
}

memory::StateCacheMode state_cache_mode(engine::MambaCacheMode mode) {
  switch (mode) {
    case engine::MambaCacheMode::none:
      return memory::StateCacheMode::none;
    case engine::MambaCacheMode::align:
      return memory::StateCacheMode::align;
    case engine::MambaCacheMode::all:
      return memory::StateCacheMode::all;
  }
  return memory::StateCacheMode::none;
}

memory::Drafter drafter(engine::SpeculativeMethod method) {
  using engine::SpeculativeMethod;
  switch (method) {
    case SpeculativeMethod::ngram:
      return memory::Drafter::ngram;
    case SpeculativeMethod::draft_model:
      return memory::Drafter::draft_model;
    case SpeculativeMethod::eagle:
      return memory::Drafter::eagle;
    case SpeculativeMethod::eagle3:
      return memory::Drafter::eagle3;
    case SpeculativeMethod::mtp:
      return memory::Drafter::mtp;
  }
  return memory::Drafter::none;
}

// What drafts must be there, unless the pool is given: then its memory is nobody's question.
bool check_drafter(const ResolvedPool& pool, std::vector<std::string>& warnings,
                   const FieldError& error) {
  const EngineConfig& c = pool.config;
  if (!c.vllm.speculative) return true;
  using engine::SpeculativeMethod;
  const SpeculativeMethod method = c.vllm.speculative->method;
  const bool sized = !c.num_gpu_blocks_override;
  if (method != SpeculativeMethod::draft_model && pool.draft_model)
    return error("speculative/model", "field-without-use",
                 "only the method draft_model has a model", "leave it out"),
           false;
  if (sized && method == SpeculativeMethod::draft_model && !pool.draft_model)
    return error("speculative/model", "missing-field",
                 "the method draft_model needs its \"model\", whose weights and KV take memory",
                 "name a small model of the same vocabulary"),
           false;
  if (sized && method == SpeculativeMethod::mtp && pool.model.num_mtp_layers == 0)
    return error("speculative/method", "drafter",
                 fmt::format("{} has no multi-token prediction layers", pool.model.id),
                 "take another method"),
           false;
  if (c.vllm.speculative->accept_pattern.empty())
    warnings.push_back("speculative decoding without accept_pattern: no draft is accepted");
  if (c.cost.kind != engine::CostKind::constant)
    warnings.push_back(
        "speculative decoding: verification is charged, the time of the drafter is not; acceptance "
        "is that of accept_pattern");
  return true;
}

memory::Options memory_options(const ResolvedPool& pool, const memory::Rules& rules) {
  const EngineConfig& c = pool.config;
  memory::Options o;
  o.rules = rules;
  o.plan = pool.plan;
  o.kv_dtype = *pool.kv_dtype;
  o.max_model_len = c.max_model_len.value_or(0);
  o.max_num_seqs = c.max_num_seqs.value_or(0);
  o.max_num_batched_tokens = step_tokens(c);
  if (c.vllm.usage_context == engine::UsageContext::llm_class)
    o.usage_context = memory::UsageContext::llm_class;
  o.block_tokens = c.block_size.value_or(0);
  o.memory_fraction = c.gpu_memory_utilization;
  if (c.kv_cache_memory_bytes) o.kv_cache_memory = {*c.kv_cache_memory_bytes};
  o.enforce_eager = c.enforce_eager;
  if (!c.enable_chunked_prefill) o.enable_chunked_prefill = false;
  // On by default; for recurrent models the version decides.
  if (!c.enable_prefix_caching) o.enable_prefix_caching = false;
  if (c.vllm.mamba_cache_mode) o.state_cache_mode = state_cache_mode(*c.vllm.mamba_cache_mode);
  if (c.vllm.speculative) {
    o.speculative_tokens = c.vllm.speculative->num_speculative_tokens;
    // A pool that is given has its size, whatever drafts.
    if (!c.num_gpu_blocks_override) o.drafter = drafter(c.vllm.speculative->method);
    o.draft_model = pool.draft_model;
  }
  if (c.profile == "sglang") o.max_total_tokens = c.sglang.max_total_tokens.value_or(0);
  return o;
}

// Bytes of one block, all layers of the deciding stage.
double block_bytes(const memory::Pool& pool) {
  if (pool.options.rules.engine == memory::Engine::vllm_v1 && pool.layout.one_pool)
    return static_cast<double>(pool.layout.block_bytes.value());
  double growing = 0;
  for (const kvformat::GroupFootprint& g : pool.footprint.groups)
    if (g.attention != spec::AttentionKind::recurrent) growing += g.bytes_per_token();
  return growing * static_cast<double>(pool.block_tokens);
}

// A pool that the scenario gives in blocks or slots.
std::optional<std::int64_t> given_blocks(const EngineConfig& c) {
  if (c.profile == "sglang" && c.sglang.max_total_tokens)
    return *c.sglang.max_total_tokens / *c.block_size;
  return c.num_gpu_blocks_override;
}
const char* given_field(const EngineConfig& c) {
  return c.profile == "sglang" && c.sglang.max_total_tokens ? "max_total_tokens"
                                                            : "num_gpu_blocks_override";
}

// Tokens of the longest request that fits the pool alone, in whole blocks.
std::int64_t longest_request(const ResolvedPool& pool) {
  const std::int64_t block = *pool.config.block_size;
  std::int64_t low = 0, high = *pool.config.max_model_len / block + 1;  // in blocks
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (blocks_for_request(pool, middle * block) <= pool.usable_blocks() ? low : high) = middle;
  }
  return low * block;
}

void apply_quantization(ResolvedPool& pool, const FieldError& error) {
  if (!pool.config.quantization) return;
  const auto known = spec::quantization_preset(*pool.config.quantization);
  if (!known)
    return error("quantization", "unknown-word",
                 fmt::format("unknown quantization \"{}\"", *pool.config.quantization),
                 suggestion(*pool.config.quantization, spec::quantization_names()));
  pool.model.quantization = *known;
}

// vLLM's gate on the full input came in 2026.
void settle_gate(EngineConfig& c, const engine::ProfileEntry& profile, const FieldError& error) {
  const bool there = profile.full_input_gate == engine::FullInputGate::there;
  if (!there && c.scheduler_reserve_full_isl.value_or(false))
    error("scheduler_reserve_full_isl", "not-modelled",
          fmt::format("the profile {} admits requests on their first chunk", c.profile),
          "leave it out, or take the profile vllm-v1");
  c.scheduler_reserve_full_isl = c.scheduler_reserve_full_isl.value_or(there);
}

}  // namespace

void resolve_pool(ResolvedPool& pool, std::vector<std::string>& warnings, const FieldError& error) {
  EngineConfig& c = pool.config;
  pool.plan = {
      c.tensor_parallel_size, c.pipeline_parallel_size, pool.ranks(), c.enable_expert_parallel, {}};
  if (const std::string problem = kvformat::parallel_problem(pool.model, pool.plan);
      !problem.empty())
    return error(
        "tensor_parallel_size", "parallel-plan",
        fmt::format(
            "{} cannot be split so: {} (tensor_parallel_size {}, heads {})", pool.model.id, problem,
            c.tensor_parallel_size,
            pool.model.layer_groups.empty() ? 0 : pool.model.layer_groups.front().num_heads),
        "choose a size that divides the attention heads");
  apply_quantization(pool, error);
  const bool sglang = c.profile == "sglang";
  settle_reuse(pool.model, c, warnings);
  if (sglang) settle_sglang(c, warnings, error);
  const bool seqs_given = c.max_num_seqs.has_value();
  const engine::ProfileEntry& profile = *engine::find_profile(c.profile);
  settle_gate(c, profile, error);
  if (!check_drafter(pool, warnings, error)) return;
  try {
    const memory::Rules& rules =
        memory::resolve_rules(memory::parse_engine(profile.engine),
                              c.engine_version.value_or(std::string(profile.memory_version)));
    if (!rules.v1)
      return error("engine_version", "engine-version",
                   fmt::format("the profile {} schedules as vLLM does from 0.8 on, not as {}",
                               c.profile, rules.label),
                   "`kvsim plan` sizes older versions");
    if (!profile.memory_version.empty() && rules.graphs_in_budget)
      return error("engine_version", "engine-version",
                   fmt::format("the profile {} schedules as vLLM did in 2025, not as {}", c.profile,
                               rules.label),
                   "take the profile vllm-v1");
    pool.kv_dtype = &kvformat::resolve_kv_dtype(c.kv_cache_dtype, pool.model);
    pool.size = memory::size_pool(pool.model, pool.gpu, memory_options(pool, rules));
  } catch (const InputError& problem) {
    const bool dtype = pool.kv_dtype == nullptr;
    const Diagnostic& d = problem.diagnostics().front();
    return error(dtype              ? "kv_cache_dtype"
                 : c.engine_version ? "engine_version"
                                    : "profile",
                 d.code, d.message, d.hint);
  }
  const memory::Options& filled = pool.size.options;
  c.max_model_len = filled.max_model_len;
  c.max_num_seqs = filled.max_num_seqs;
  c.max_num_batched_tokens = filled.max_num_batched_tokens;
  if (!c.sglang.chunked_prefill_size) c.sglang.chunked_prefill_size = filled.max_num_batched_tokens;
  c.async_scheduling = c.async_scheduling.value_or(false);
  c.block_size = pool.size.block_tokens;
  // Contiguous slots know neither, whatever the defaults say.
  if (c.profile == "static") c.enable_prefix_caching = c.enable_chunked_prefill = false;
  c.gpu_memory_utilization = filled.memory_fraction.value_or(filled.rules.default_utilization);
  if (!c.engine_version) c.engine_version = std::string(filled.rules.first_version);
  warnings.insert(warnings.end(), pool.size.warnings.begin(), pool.size.warnings.end());
  // Which versions keep recurrent states for reuse is theirs to say.
  if (filled.rules.engine == memory::Engine::vllm_v1 && c.enable_prefix_caching &&
      !filled.enable_prefix_caching.value_or(true)) {
    c.enable_prefix_caching = false;
    warnings.push_back(fmt::format("{} keeps no recurrent states for reuse: no prefix caching",
                                   filled.rules.label));
  }
  pool.groups = model_groups(pool);
  check_kv_groups(pool, warnings, error);

  const bool grouped = !pool.groups.empty() || !c.vllm.kv_groups.empty();
  const std::optional<std::int64_t> given = given_blocks(c);
  pool.num_blocks = given     ? *given
                    : grouped ? pool.size.num_gpu_blocks
                              : single_table_blocks(pool.size, c, warnings);
  if (sglang && !seqs_given)
    c.max_num_seqs = memory::sglang_max_running(pool.num_blocks * *c.block_size, *c.max_model_len,
                                                pool.size.state_slots);
  // Host blocks are kept one by one.
  constexpr double most_host_blocks = 1e7;
  if (c.profile == "trtllm" && block_bytes(pool.size) > 0 &&
      static_cast<double>(c.trtllm.host_cache_size.value()) / block_bytes(pool.size) >
          most_host_blocks)
    return error("host_cache_size", "out-of-range",
                 fmt::format("a host cache of {} would hold more than {:.0e} blocks",
                             format_bytes(c.trtllm.host_cache_size), most_host_blocks),
                 "give what a host has");
  // A pool that was given instead of sized must fit beside the weights all the same.
  const double pool_bytes = given ? static_cast<double>(pool.num_blocks) * block_bytes(pool.size)
                            : c.kv_cache_memory_bytes
                                ? static_cast<double>(c.kv_cache_memory_bytes->value())
                                : 0;
  const double room =
      static_cast<double>((pool.size.ledger.total - pool.size.ledger.weights).value());
  if (pool_bytes > 0 && pool_bytes > room) {
    error(given ? given_field(c) : "kv_cache_memory_bytes", "does-not-fit",
          fmt::format("a KV pool of {:.1f} GiB does not fit beside {} of weights on {} of {}",
                      pool_bytes / static_cast<double>(gib), format_bytes(pool.size.ledger.weights),
                      pool.gpu.id, format_bytes(pool.size.ledger.total)),
          "take a smaller pool, or leave the field out and let the memory rules size it");
    return;
  }
  // As the engine does at start: a request of max_model_len must fit the pool alone.
  const std::int64_t needed = blocks_for_request(pool, *c.max_model_len);
  if (pool.usable_blocks() < 1) {
    error("gpu", "does-not-fit", fmt::format("{} does not fit: {}", pool.model.id, pool.size.limit),
          fmt::format(
              "`kvsim plan {} --gpu {}` shows the memory ledger and the nearest setting that fits",
              pool.model.id, pool.gpu.id));
  } else if (needed > pool.num_blocks && !c.allow_small_pool) {
    error(given ? given_field(c) : "max_model_len", "pool-too-small",
          fmt::format(
              "the pool of {} blocks of {} tokens cannot hold one request of max_model_len {}",
              pool.num_blocks, *c.block_size, *c.max_model_len),
          fmt::format("set max_model_len to at most {}, or allow_small_pool to true",
                      longest_request(pool)));
  }
}

engine::SchedulerLimits limits(const ResolvedPool& pool) {
  const EngineConfig& c = pool.config;
  engine::SchedulerLimits l;
  l.max_num_seqs = *c.max_num_seqs;
  l.max_num_batched_tokens = *c.max_num_batched_tokens;
  l.max_model_len = *c.max_model_len;
  l.long_prefill_token_threshold = c.long_prefill_token_threshold;
  l.num_blocks = pool.num_blocks;
  l.block_tokens = *c.block_size;
  if (const double block = block_bytes(pool.size); block > 0)
    l.host_blocks =
        static_cast<std::int64_t>(static_cast<double>(c.trtllm.host_cache_size.value()) / block);
  l.enable_prefix_caching = c.enable_prefix_caching;
  l.enable_chunked_prefill = c.enable_chunked_prefill;
  l.reserve_full_input = *c.scheduler_reserve_full_isl;
  l.priority_policy = c.scheduling_policy == engine::SchedulingPolicy::priority;
  l.watermark = c.watermark;
  l.async_scheduling = *c.async_scheduling;
  l.vllm = c.vllm;
  l.model_groups = pool.groups;
  l.sglang = c.sglang;
  l.trtllm = c.trtllm;
  l.static_batching = c.static_batching;
  return l;
}

double host_token_seconds(const ResolvedPool& pool) {
  if (pool.config.cost.kind == engine::CostKind::constant || pool.gpu.pcie_bandwidth.value() <= 0)
    return 0;
  return block_bytes(pool.size) / static_cast<double>(pool.size.block_tokens) /
         pool.gpu.pcie_bandwidth.value();
}

namespace {

// Whose kernels and habits a profile's steps have.
cost::Framework framework_of(const std::string& profile) {
  if (profile == "sglang") return cost::Framework::sglang;
  if (profile == "trtllm") return cost::Framework::trtllm;
  return cost::Framework::vllm;
}

cost::HostProfile host_of(const ResolvedPool& pool) {
  const EngineConfig& c = pool.config;
  if (c.cost.kind != engine::CostKind::fitted) return {};
  if (c.cost.host) return *c.cost.host;
  // Static batching has no published engine of today's whose host it would have.
  if (c.cost.host_time == engine::HostTime::none || c.profile == "static") return {};
  return cost::known_host(pool.model, pool.gpu, framework_of(c.profile),
                          c.engine_version.value_or(""));
}

}  // namespace

std::shared_ptr<const cost::CostModel> cost_model(const ResolvedPool& pool) {
  const EngineConfig& c = pool.config;
  if (c.cost.kind == engine::CostKind::constant) return cost::make_constant(*c.cost.step);
  cost::FittedOptions fitted;
  cost::RooflineOptions& o = fitted.deployment;
  o.plan = pool.plan;
  o.kv_dtype = *pool.kv_dtype;
  o.enforce_eager = c.enforce_eager;
  o.link = pool.link;
  o.cuda_graph_tokens =
      c.profile == "sglang"
          ? std::min(memory::sglang_graph_batch(pool.gpu, c.tensor_parallel_size), *c.max_num_seqs)
          : cost::cuda_graph_limit(
                *c.max_num_batched_tokens, *c.max_num_seqs,
                c.vllm.speculative ? c.vllm.speculative->num_speculative_tokens : 0, pool.gpu);
  fitted.framework = framework_of(c.profile);
  fitted.host = host_of(pool);
  const bool datasheet = c.cost.kind == engine::CostKind::roofline;
  return cost::make_step_cost(pool.model, pool.gpu, fitted, datasheet ? nullptr : pool.costs);
}

Duration request_delay(const ResolvedPool& pool) {
  return to_duration(1e-6 * host_of(pool).request_us);
}

}  // namespace kvsim::scenario
