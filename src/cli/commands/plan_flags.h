#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "planner/plan.h"
#include "spec/catalog.h"

namespace kvsim::cli {

// The deployment that `plan` sizes, as its flags say it. The same flags describe the other side of
// --against and what a pasted engine command is translated to.
class PlanFlags {
 public:
  void describe(Flags& flags);
  // Throws UsageError for flags that do not go together, InputError for what they name.
  planner::Request request(const spec::Catalog& catalog) const;
  // Settings by their JSON name that were given; the rest are defaults.
  std::set<std::string> given() const;

  // The flags as words, as on a command line. Throws UsageError.
  static PlanFlags from_words(const std::vector<std::string>& words);
  // Takes from `other` what is not given here.
  void fill(const PlanFlags& other);
  // Whether the flag of that name (with or without "no-") is given.
  bool has(std::string_view flag) const;
  // Names of the optional flags that are given, in the order of the table.
  std::vector<std::string> names() const;
  // The value of a flag as JSON: a number, true, false, or a text. Nothing when it is not given.
  std::optional<std::string> json(std::string_view flag) const;
  const std::string& model() const { return model_; }
  const std::string& gpu() const { return gpu_; }
  void set_model(std::string model) { model_ = std::move(model); }
  void set_gpu(std::string gpu) { gpu_ = std::move(gpu); }

 private:
  void deployment(Flags& flags);
  void memory(Flags& flags);
  void speculation(Flags& flags);
  std::optional<double> fraction(memory::Engine engine) const;
  void refuse_others(memory::Engine engine) const;
  void take_memory(memory::Options& options) const;
  void take_speculation(memory::Options& options, const spec::Catalog& catalog) const;
  std::vector<std::int64_t> partition() const;
  std::vector<Bytes> sizes(const char* flag, const std::optional<std::string>& text) const;
  // Calls visit(name, mine, theirs) for every optional flag.
  template <class Mine, class Theirs, class Visit>
  static void each(Mine& mine, Theirs& theirs, Visit visit);

  std::string model_, gpu_;
  std::optional<std::string> partition_;
  std::optional<std::string> engine_, version_, kv_dtype_, quantization_, state_dtype_, state_mode_,
      drafter_, draft_model_, kv_memory_, free_memory_, total_memory_;
  std::optional<int> tp_, pp_, dp_, dcp_;
  std::optional<std::int64_t> max_model_len_, max_num_seqs_, max_num_batched_tokens_, block_size_,
      context_, batch_, images_, blocks_, max_total_tokens_, speculative_tokens_;
  std::optional<double> utilization_, static_fraction_, free_fraction_, state_ratio_, window_ratio_;
  std::optional<Bytes> weights_, activation_, non_torch_, graphs_, offload_, swap_;
  std::optional<bool> prefix_caching_, chunked_prefill_, expert_parallel_, enforce_eager_,
      hybrid_off_, connector_;
};

}  // namespace kvsim::cli
