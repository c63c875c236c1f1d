#include "property/witness.h"

namespace kvsim::testing {
namespace {

const std::string engine = "cluster.pools[].engine.";

std::string path_of(std::string field) {
  for (auto at = field.find("[]"); at != field.npos; at = field.find("[]"))
    field.replace(at, 2, ".0");
  return field;
}

// The fields of a length distribution, with numbers that suit tokens and turns alike.
void add_length(std::vector<Witness>& list, const std::string& world, const std::string& field) {
  const std::string path = path_of(field);
  const auto add = [&](const std::string& name, const std::string& whole,
                       const std::string& other) {
    list.push_back({field + "." + name, world, {{path, whole}}, "", other});
  };
  add("distribution", R"({"distribution": "uniform", "min": 2, "max": 9})", "");
  list.back().before.clear();
  list.back().value = R"({"value": 5})";
  list.back().other = R"({"distribution": "uniform", "min": 2, "max": 9})";
  add("value", R"({"value": 3})", "6");
  add("min", R"({"distribution": "uniform", "min": 2, "max": 9})", "7");
  add("max", R"({"distribution": "uniform", "min": 2, "max": 9})", "4");
  add("median", R"({"distribution": "lognormal", "median": 6, "sigma": 0.4})", "12");
  add("sigma", R"({"distribution": "lognormal", "median": 6, "sigma": 0.2})", "0.9");
  add("file", R"({"distribution": "empirical", "file": "short_lengths.json"})",
      "long_lengths.json");
}

void add_pause(std::vector<Witness>& list, const std::string& world, const std::string& field,
               const std::vector<Setting>& before = {}) {
  const std::string path = path_of(field);
  const auto add = [&](const std::string& name, const std::string& whole,
                       const std::string& other) {
    list.push_back({field + "." + name, world, before, "", other});
    list.back().before.push_back({path, whole});
  };
  add("distribution", R"({"time": "500ms"})", "exponential");
  add("time", R"({"time": "500ms"})", "2s");
  add("sigma", R"({"distribution": "lognormal", "time": "500ms", "sigma": 0.1})", "0.9");
}

void add_arrival(std::vector<Witness>& list, const std::string& world, const std::string& field) {
  const auto add = [&](const std::string& name, const std::string& whole,
                       const std::string& other) {
    list.push_back({field + "." + name, world, {{field, whole}}, "", other});
  };
  const std::string sine = R"({"process": "diurnal", "rate": 5, "amplitude": 0.9, "period": "4s"})";
  add("process", R"({"process": "poisson", "rate": 5})", "constant");
  add("rate", R"({"process": "poisson", "rate": 5})", "7");
  add("burstiness", R"({"process": "gamma", "rate": 5, "burstiness": 0.3})", "3");
  add("rescale", R"({"process": "poisson", "rate": 5})", "true");
  add("amplitude", sine, "0.1");
  add("period", sine, "1s");
  add("rates", R"({"process": "diurnal", "rates": [2, 8], "period": "4s"})", "[8, 2]");
  add("clients", R"({"process": "closed", "clients": 2})", "5");
  add_pause(list, world, field + ".think", {{field, R"({"process": "closed", "clients": 2})"}});
}

void add_sglang(std::vector<Witness>& list) {
  const auto add = [&](const std::string& name, const std::string& other,
                       const std::vector<Setting>& before = {}) {
    list.push_back({engine + name, "radix", {}, "", other});
    for (const Setting& s : before)
      list.back().before.push_back({path_of(engine) + s.path, s.value});
  };
  add("max_total_tokens", "1500");
  add("chunked_prefill_size", "128");
  add("max_prefill_tokens", "128", {{"chunked_prefill_size", "-1"}});
  add("enable_mixed_chunk", "true", {{"chunked_prefill_size", "128"}});
  add("schedule_policy", "lof");
  add("schedule_conservativeness", "0.02");
  add("radix_eviction_policy", "mru");
  add("disable_radix_cache", "true");
  const std::vector<Setting> priority{{"enable_priority_scheduling", "true"},
                                      {"priority_scheduling_preemption_threshold", "0"},
                                      {"max_num_seqs", "2"}};
  // The world's later requests have the smaller values.
  const Setting late_first{"schedule_low_priority_values_first", "true"};
  add("enable_priority_scheduling", "true", {late_first, priority[2]});
  add("schedule_low_priority_values_first", "true", priority);
  add("disable_priority_preemption", "true", {priority[0], priority[1], priority[2], late_first});
  add("priority_scheduling_preemption_threshold", "0", {priority[0], priority[2], late_first});
  add("retraction_policy", "priority", {priority[0], priority[1]});
  list.back().world = "crowd";
  add("enable_hierarchical_cache", "true");
  const std::vector<Setting> host{{"enable_hierarchical_cache", "true"}};
  add("hicache_ratio", "0.2", host);
  add("host_tokens", "300", host);
  add("hicache_write_policy", "write_through_selective",
      {host[0], {"host_tokens", "4000"}, {"max_total_tokens", "1650"}});
}

void add_engine(std::vector<Witness>& list) {
  const auto add = [&](const std::string& name, const std::string& world, const std::string& other,
                       std::vector<Setting> before = {}) {
    list.push_back({engine + name, world, std::move(before), "", other});
  };
  add("profile", "trace", "static");
  add("engine_version", "trace", "0.10.0");
  add("gpu", "trace", "h100-sxm");
  add("tensor_parallel_size", "trace", "2");
  add("pipeline_parallel_size", "trace", "2");
  add("data_parallel_size", "trace", "2");
  add("usage_context", "trace", "llm_class");
  add("max_loras", "adapters", "1");
  add("enable_expert_parallel", "experts", "true");
  add("gpu_memory_utilization", "trace", "0.5");
  add("kv_cache_memory_bytes", "trace", "2GiB");
  add("num_gpu_blocks_override", "trace", "700");
  add("block_size", "trace", "32");
  add("kv_cache_dtype", "trace", "fp8");
  add("quantization", "trace", "fp8");
  add("max_model_len", "trace", "1024", {{"workload.on_unservable", "reject"}});
  add("allow_small_pool", "small pool", "false");
  add("enforce_eager", "trace", "true");
  add("max_num_seqs", "trace", "2");
  add("max_num_batched_tokens", "trace", "128");
  add("enable_prefix_caching", "trace", "false");
  // 2,226 tokens arrive at once, 1,700 fit a step.
  add("enable_chunked_prefill", "trace", "false",
      {{"cluster.pools.0.engine.enable_prefix_caching", "false"},
       {"cluster.pools.0.engine.max_model_len", "1700"},
       {"cluster.pools.0.engine.max_num_batched_tokens", "1700"}});
  add("long_prefill_token_threshold", "trace", "64");
  add("scheduling_policy", "trace", "priority", {{"cluster.pools.0.engine.max_num_seqs", "2"}});
  add("scheduler_reserve_full_isl", "small pool", "false",
      {{"cluster.pools.0.engine.max_num_batched_tokens", "128"}});
  add("watermark", "small pool", "0.3");
  add("async_scheduling", "trace", "true");
  const std::vector<Setting> drafted = {
      {"cluster.pools.0.engine.speculative",
       R"({"method": "eagle3", "num_speculative_tokens": 4, "accept_pattern": [2, 1]})"}};
  add("speculative.method", "trace", "ngram", drafted);
  add("speculative.num_speculative_tokens", "trace", "1", drafted);
  // Parallel drafts of a draft model cost input slots of the step.
  add("speculative.parallel_drafting", "trace", "true",
      {{drafted[0].path,
        R"({"method": "draft_model", "model": "llama-3.2-1b", "num_speculative_tokens": 9, "accept_pattern": [2]})"},
       {"cluster.pools.0.engine.max_num_batched_tokens", "256"}});
  const Setting drafts{drafted[0].path,
                       R"({"method": "draft_model", "model": "llama-3.2-1b",
                           "num_speculative_tokens": 2, "accept_pattern": [1]})"};
  add("speculative.model", "trace", "\"llama-3.2-3b\"", {drafts});
  add("speculative.accept_pattern", "trace", "[4]", drafted);
  const auto groups = [](const std::string& first) {
    return Setting{"cluster.pools.0.engine.kv_groups", "[" + first + R"(, {"kind": "full"}])"};
  };
  const Setting window = groups(R"({"kind": "sliding_window", "window": 32})");
  const Setting roomy{"cluster.pools.0.engine.num_gpu_blocks_override", "220"};
  const Setting states = groups(R"({"kind": "mamba"})");
  add("kv_groups[].kind", "trace", "full", {groups(R"({"kind": "mamba"})")});
  add("kv_groups[].window", "small pool", "200", {roomy, window});
  add("kv_groups[].attention_chunk_size", "small pool", "256",
      {roomy, groups(R"({"kind": "chunked_local", "attention_chunk_size": 32})")});
  add("prefix_cache_retention_interval", "trace", "16",
      {states, {"cluster.pools.0.engine.mamba_cache_mode", "all"}});
  add("mamba_cache_mode", "trace", "none", {states});
  add("mamba_block_size", "trace", "64",
      {states, {"cluster.pools.0.engine.mamba_cache_mode", "all"}});
  add("prefix_match_unit", "trace", "4", {states});
  const std::string one = path_of(engine);
  add("capacity_scheduler_policy", "trtllm", "MAX_UTILIZATION");
  add("context_chunking_policy", "trtllm", "EQUAL_PROGRESS",
      {{one + "max_num_batched_tokens", "256"}});
  add("enable_partial_reuse", "trtllm", "false", {{one + "block_size", "64"}});
  // The block that the common prompt ends in belongs to a request that runs.
  add("copy_on_partial_reuse", "trtllm", "false", {{one + "block_size", "64"}});
  add("host_cache_size", "trtllm", "1GiB");
  add("secondary_offload_min_priority", "trtllm", "36", {{one + "host_cache_size", "1GiB"}});
  add("decode_retention_priority", "trtllm", "1", {{one + "host_cache_size", "1GiB"}});
  // Of too low a priority for the host.
  const std::vector<Setting> retained = {
      {one + "host_cache_size", "1GiB"},
      {one + "token_range_retention", R"([{"token_start": 0, "token_end": 96, "priority": 1}])"}};
  add("token_range_retention[].token_start", "trtllm", "64", retained);
  add("token_range_retention[].token_end", "trtllm", "1500", retained);
  add("token_range_retention[].priority", "trtllm", "90", retained);
  add("batching", "static", "request");
  add("reservation", "static", "oracle");
  add("allocator", "static", "buddy", {{"cluster.pools.0.engine.reservation", "oracle"}});
  add("cost.kind", "trace", "constant", {{"cluster.pools.0.engine.cost.step", "10ms"}});
  add("cost.step", "constant", "20ms");
  add("cost.host_time", "trace", "none");
  const std::string host = "cost.host.";
  const std::vector<Setting> given = {{one + "cost.host", R"({"step_us": 100})"}};
  add(host + "decode_scale", "trace", "1.5", given);
  add(host + "prefill_scale", "trace", "1.5", given);
  add(host + "step_us", "trace", "3000", given);
  add(host + "sequence_us", "trace", "200", given);
  add(host + "prefill_us", "trace", "5000", given);
  add(host + "request_us", "trace", "90000", given);
}

}  // namespace

std::vector<Witness> witnesses() {
  std::vector<Witness> list = {
      {"name", "trace", {}, "", "another"},
      {"purpose", "trace", {}, "", "to be another"},
      {"model", "trace", {}, "", "mistral-7b-v0.3"},
      {"seed", "independent", {}, "1", "2"},
      {"workload.trace.file", "trace", {}, "", "other_requests.jsonl"},
      {"workload.trace.format", "trace", {}, "auto", "mooncake"},
      {"workload.trace.max_requests", "trace", {}, "", "5"},
      {"workload.trace.rate_scale", "trace", {}, "", "2"},
      {"workload.trace.start_s", "trace", {}, "", "0.2"},
      {"workload.trace.end_s", "trace", {}, "", "1"},
      {"workload.trace.block_tokens",
       "mooncake",
       {{"workload.trace.block_tokens", "512"}},
       "",
       "600"},
      {"workload.on_unservable",
       "trace",
       {{"cluster.pools.0.engine.max_model_len", "512"}},
       "",
       "reject"},
      {"workload.warmup.requests", "trace", {}, "", "3"},
      {"workload.warmup.seconds", "trace", {}, "", "0.3"},
      {"workload.generate.kind", "independent", {}, "", "chat"},
      {"workload.generate.max_tokens",
       "independent",
       {{"cluster.pools.0.engine.profile", "trtllm"},
        {"cluster.pools.0.engine.num_gpu_blocks_override", "100"},
        {"cluster.pools.0.engine.allow_small_pool", "true"}},
       "",
       "1000"},
      {"workload.generate.requests", "independent", {}, "", "30"},
      {"workload.generate.max_context", "chat", {}, "", "200"},
      {"workload.generate.system.count", "system", {}, "", "1"},
      {"workload.generate.system.weights", "system", {}, "", "[1, 0, 0]"},
      {"workload.generate.system.zipf", "system", {}, "", "4"},
      {"workload.generate.agent.branch_probability", "agent", {}, "", "0"},
      {"cluster.pools[].name", "trace", {}, "", "other"},
      {"cluster.pools[].replicas", "trace", {}, "", "2"},
      {"cluster.router.policy",
       "trace",
       {{"cluster.pools.0.replicas", "2"}},
       "round-robin",
       "session-sticky"},
      {"slo.ttft_ms", "trace", {}, "1000", "1"},
      {"slo.tpot_ms", "trace", {}, "1000", "1"},
      {"slo.e2el_ms", "trace", {}, "100000", "1"},
      {"price.gpu_hour_usd", "trace", {}, "1", "2"},
  };
  add_engine(list);
  add_sglang(list);

  add_arrival(list, "independent", "workload.generate.arrival");
  add_arrival(list, "trace", "workload.arrival");
  add_length(list, "independent", "workload.generate.input");
  add_length(list, "independent", "workload.generate.output");
  add_length(list, "system", "workload.generate.system.tokens");
  add_length(list, "chat", "workload.generate.chat.turns");
  add_pause(list, "chat", "workload.generate.chat.think");
  add_length(list, "agent", "workload.generate.agent.steps");
  add_length(list, "agent", "workload.generate.agent.tool_tokens");
  add_pause(list, "agent", "workload.generate.agent.tool_time");
  add_length(list, "agent", "workload.generate.agent.branches");
  add_length(list, "agent", "workload.generate.agent.branch_steps");
  return list;
}

}  // namespace kvsim::testing
