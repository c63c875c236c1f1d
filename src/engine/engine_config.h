#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "config/fields.h"
#include "cost/step/host_profile.h"
#include "engine/options/sglang_options.h"
#include "engine/options/static_options.h"
#include "engine/options/trtllm_options.h"
#include "engine/options/vllm_options.h"
#include "units/units.h"

namespace kvsim::engine {

enum class SchedulingPolicy { fcfs, priority };
inline constexpr std::array<std::string_view, 2> scheduling_policy_names{"fcfs", "priority"};

enum class CostKind { fitted, roofline, constant };
inline constexpr std::array<std::string_view, 3> cost_kind_names{"fitted", "roofline", "constant"};

// Which host time is added to the kernels'.
enum class HostTime { known, none };
inline constexpr std::array<std::string_view, 2> host_time_names{"known", "none"};

// How long a step takes.
struct CostConfig {
  CostKind kind = CostKind::fitted;
  std::optional<Duration> step;           // kind constant
  HostTime host_time = HostTime::known;   // kind fitted
  std::optional<cost::HostProfile> host;  // kind fitted: in place of the known one
};

// An engine as a scenario describes it: the engines' own flag names, underscores for hyphens; what
// several engines have goes by vLLM's name and takes the others' as aliases. Absent optionals take
// the engine's own defaults for its GPU and version.
struct EngineConfig {
  std::string profile = "vllm-v1";
  std::optional<std::string> engine_version;
  config::RawValue gpu;
  int tensor_parallel_size = 1;
  int pipeline_parallel_size = 1;
  bool enable_expert_parallel = false;
  // memory
  std::optional<double> gpu_memory_utilization;
  std::optional<Bytes> kv_cache_memory_bytes;
  std::optional<std::int64_t> num_gpu_blocks_override;
  std::optional<std::int64_t> block_size;
  std::string kv_cache_dtype = "auto";
  std::optional<std::string> quantization;
  std::optional<std::int64_t> max_model_len;
  bool allow_small_pool = false;
  bool enforce_eager = false;
  // scheduling
  std::optional<std::int64_t> max_num_seqs;
  std::optional<std::int64_t> max_num_batched_tokens;
  bool enable_prefix_caching = true;
  bool enable_chunked_prefill = true;
  std::int64_t long_prefill_token_threshold = 0;
  SchedulingPolicy scheduling_policy = SchedulingPolicy::fcfs;
  std::optional<bool> scheduler_reserve_full_isl;
  double watermark = 0;
  std::optional<bool> async_scheduling;  // overlap of SGLang
  // of one engine alone; in a file they stand beside the others
  VllmOptions vllm;
  SglangOptions sglang;
  TrtllmOptions trtllm;
  StaticOptions static_batching;
  CostConfig cost;
};

void fields(config::FieldVisitor& v, CostConfig& c);
void fields(config::FieldVisitor& v, EngineConfig& c);

}  // namespace kvsim::engine
