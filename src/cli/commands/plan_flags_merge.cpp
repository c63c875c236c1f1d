#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/plan_flags.h"
#include "cli/parser.h"
#include "config/document.h"

// A deployment from two places: the line's own flags, and those of a pasted command or log.
namespace kvsim::cli {

namespace {

std::string json_value(const std::string& text) { return config::json_string(text); }
std::string json_value(Bytes size) { return std::to_string(size.value()); }
template <class Number>
std::string json_value(Number number) {
  return fmt::format("{}", number);
}

}  // namespace

template <class Mine, class Theirs, class Visit>
void PlanFlags::each(Mine& a, Theirs& b, Visit visit) {
  visit("--engine", a.engine_, b.engine_);
  visit("--engine-version", a.version_, b.version_);
  visit("--tensor-parallel-size", a.tp_, b.tp_);
  visit("--pipeline-parallel-size", a.pp_, b.pp_);
  visit("--data-parallel-size", a.dp_, b.dp_);
  visit("--decode-context-parallel-size", a.dcp_, b.dcp_);
  visit("--enable-expert-parallel", a.expert_parallel_, b.expert_parallel_);
  visit("--max-model-len", a.max_model_len_, b.max_model_len_);
  visit("--max-num-seqs", a.max_num_seqs_, b.max_num_seqs_);
  visit("--max-num-batched-tokens", a.max_num_batched_tokens_, b.max_num_batched_tokens_);
  visit("--block-size", a.block_size_, b.block_size_);
  visit("--enable-prefix-caching", a.prefix_caching_, b.prefix_caching_);
  visit("--enable-chunked-prefill", a.chunked_prefill_, b.chunked_prefill_);
  visit("--enforce-eager", a.enforce_eager_, b.enforce_eager_);
  visit("--gpu-memory-utilization", a.utilization_, b.utilization_);
  visit("--mem-fraction-static", a.static_fraction_, b.static_fraction_);
  visit("--free-gpu-memory-fraction", a.free_fraction_, b.free_fraction_);
  visit("--kv-cache-memory-bytes", a.kv_memory_, b.kv_memory_);
  visit("--free-memory", a.free_memory_, b.free_memory_);
  visit("--weights-bytes", a.weights_, b.weights_);
  visit("--activation-bytes", a.activation_, b.activation_);
  visit("--non-torch-bytes", a.non_torch_, b.non_torch_);
  visit("--cuda-graph-bytes", a.graphs_, b.graphs_);
  visit("--kv-cache-dtype", a.kv_dtype_, b.kv_dtype_);
  visit("--quantization", a.quantization_, b.quantization_);
  visit("--images-per-prompt", a.images_, b.images_);
  visit("--num-gpu-blocks-override", a.blocks_, b.blocks_);
  visit("--pp-layer-partition", a.partition_, b.partition_);
  visit("--total-memory", a.total_memory_, b.total_memory_);
  visit("--disable-hybrid-kv-cache-manager", a.hybrid_off_, b.hybrid_off_);
  visit("--kv-connector", a.connector_, b.connector_);
  visit("--cpu-offload", a.offload_, b.offload_);
  visit("--swap-space", a.swap_, b.swap_);
  visit("--mamba-ssm-cache-dtype", a.state_dtype_, b.state_dtype_);
  visit("--mamba-cache-mode", a.state_mode_, b.state_mode_);
  visit("--mamba-full-memory-ratio", a.state_ratio_, b.state_ratio_);
  visit("--swa-full-tokens-ratio", a.window_ratio_, b.window_ratio_);
  visit("--max-total-tokens", a.max_total_tokens_, b.max_total_tokens_);
  visit("--speculative-method", a.drafter_, b.drafter_);
  visit("--num-speculative-tokens", a.speculative_tokens_, b.speculative_tokens_);
  visit("--draft-model", a.draft_model_, b.draft_model_);
  visit("--context", a.context_, b.context_);
  visit("--batch", a.batch_, b.batch_);
}

PlanFlags PlanFlags::from_words(const std::vector<std::string>& words) {
  PlanFlags read;
  Flags flags;
  read.describe(flags);
  parse(words, flags, "plan", Missing::allowed);
  return read;
}

void PlanFlags::fill(const PlanFlags& other) {
  if (model_.empty()) model_ = other.model_;
  if (gpu_.empty()) gpu_ = other.gpu_;
  each(*this, other, [](const char*, auto& mine, const auto& theirs) {
    if (!mine) mine = theirs;
  });
}

std::vector<std::string> PlanFlags::names() const {
  std::vector<std::string> list;
  each(*this, *this, [&](const char* one, const auto& mine, const auto&) {
    if (mine) list.emplace_back(one);
  });
  return list;
}

std::optional<std::string> PlanFlags::json(std::string_view flag) const {
  std::optional<std::string> found;
  each(*this, *this, [&](std::string_view one, const auto& mine, const auto&) {
    if (one == flag && mine) found = json_value(*mine);
  });
  return found;
}

bool PlanFlags::has(std::string_view flag) const {
  std::string name(flag);
  if (name.starts_with("--no-")) name = "--" + name.substr(5);
  const std::vector<std::string> given = names();
  return std::find(given.begin(), given.end(), name) != given.end();
}

}  // namespace kvsim::cli
