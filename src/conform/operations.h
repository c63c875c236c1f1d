#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "conform/answer.h"
#include "conform/arguments.h"

// Recorded operations on one data structure of an engine, replayed on kvsim's own.
namespace kvsim::conform {

// Replays the operations of one case, in their order. Made once per case from its settings.
class Operations {
 public:
  virtual ~Operations() = default;
  // Applies one operation and sets everything that can be observed after it in `got`, under the
  // names of the family's fields. Asks `op` for all its members; the caller finishes it. A refusal
  // is an answer; InputError is for an operation that makes no sense (a block freed twice).
  virtual void apply(std::string_view name, Arguments& op, Answers& got) = 0;
};

// One family of operation cases. A case belongs to the first row whose profile is its own and whose
// marker it has: a setting that only this family's cases carry.
struct OperationFamily {
  std::string_view name;     // "vllm_blocks"
  std::string_view summary;  // one line
  std::string_view profile;  // "vllm-v1"
  // Where the settings stand: "engine", or "" for the case itself.
  std::string_view settings;
  std::string_view marker;                       // a name among the settings
  std::span<const std::string_view> operations;  // names of "op"
  std::span<const std::string_view> fields;      // names inside "expect"
  // Asks for all settings; the caller finishes them.
  std::unique_ptr<Operations> (*make)(Arguments& settings);
};
std::span<const OperationFamily> operation_families();

// Makers, one file each.
std::unique_ptr<Operations> make_vllm_blocks(Arguments& settings);
std::unique_ptr<Operations> make_sglang_radix(Arguments& settings);
std::unique_ptr<Operations> make_sglang_hicache(Arguments& settings);
std::unique_ptr<Operations> make_sglang_swaradix(Arguments& settings);
std::unique_ptr<Operations> make_vllm_offload(Arguments& settings);

}  // namespace kvsim::conform
