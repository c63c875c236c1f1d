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

// A range of versions that size memory alike. The booleans are vLLM's; other engines have one
// range.
struct Rules {
  Engine engine = Engine::vllm_v1;
  std::string_view label;              // "vllm-v1 >= 0.21"
  std::string_view first_version;      // inclusive
  std::string_view first_date;         // of that version's release, YYYY-MM-DD
  bool graphs_in_budget = false;       // the CUDA graph estimate is subtracted from the budget
  double default_utilization = 0.90;   // the fraction flag's default
  bool tokens_by_concurrency = false;  // printed tokens = int(concurrency * max_model_len)
  bool concurrency_by_blocks =
      false;                   // blocks / blocks of one request; tokens / max_model_len before
  bool pages_unified = false;  // unequal page sizes are unified; one page for all layers before
  bool state_prefix_caching = false;  // prefix caching of recurrent models is on by default
  bool overlapped_batches = false;    // two batches in flight
};

// `version` is a version ("0.21.0", "v0.9.2", "b4500"), a date ("2026-08-17") or empty, which means
// the version recorded in the oracle traces (vLLM main of 2026-08-17, SGLang main of 2026-07-20).
// Not readable, or older than the first range: InputError that lists the ranges.
const Rules& resolve_rules(Engine engine, std::string_view version = {});
std::vector<const Rules*> rules_of(Engine engine);

}  // namespace kvsim::memory
