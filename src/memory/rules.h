#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

// Which version of which engine sizes the memory. The version is part of every result.
namespace kvsim::memory {

enum class Engine { vllm_v1, sglang, trtllm, static_batching, llamacpp };
inline constexpr std::array<std::string_view, 5> engine_names{"vllm-v1", "sglang", "trtllm",
                                                              "static", "llamacpp"};
constexpr std::string_view name(Engine e) { return engine_names[static_cast<std::size_t>(e)]; }
// Unknown names: InputError with the nearest one.
Engine parse_engine(std::string_view text);

// A range of versions that size memory alike. What follows the dates is vLLM's; other engines have
// one range.
struct Rules {
  Engine engine = Engine::vllm_v1;
  std::string_view label;          // "vllm-v1 >= 0.21"
  std::string_view first_version;  // inclusive
  std::string_view first_date;     // of that version's release, YYYY-MM-DD
  double default_utilization = 0.90;
  bool v1 = true;  // false: the engine before V1, which schedules otherwise and is only sized
  // The profile run
  bool graphs_in_budget = false;     // the CUDA graph estimate is subtracted from the budget
  double logit_bytes = 39;           // peak of sampling, per sequence and vocabulary entry
  double graph_mib = 0.29;           // per captured size and layer
  bool whole_prompts = false;        // without chunked prefill the run has max_model_len tokens
  std::int64_t chunked_above = 0;    // longer models get chunked prefill; 0 = never by itself
  std::int64_t chunked_tokens = 0;   // max_num_batched_tokens then
  bool by_free_memory = false;       // what the allocator keeps beyond its peak counts too
  bool dequantises_weights = false;  // AWQ and GPTQ products of many tokens unpack a whole matrix
  bool counts_non_torch = true;
  bool counts_context = false;  // the CUDA context is part of non-torch
  // The pool
  bool tokens_by_concurrency = false;  // printed tokens = int(concurrency * max_model_len)
  bool concurrency_by_blocks = false;  // blocks / blocks of a request; tokens / length before
  bool pages_unified = false;          // unequal pages are unified; one page for all layers before
  bool state_prefix_caching = false;   // prefix caching of recurrent models is on by default
  bool overlapped_batches = false;     // two batches in flight
};

// `version` is a version ("0.21.0", "v0.9.2", "b4500"), a date ("2026-08-17") or empty, which means
// the version recorded in the oracle traces (vLLM main of 2026-08-17, SGLang main of 2026-07-20).
// Not readable, or older than the first range: InputError that lists the ranges.
const Rules& resolve_rules(Engine engine, std::string_view version = {});
std::vector<const Rules*> rules_of(Engine engine);

}  // namespace kvsim::memory
