#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workload/generate/distribution.h"
#include "workload/generate/spec.h"
#include "workload/request.h"

namespace kvsim::workload {

// What all kinds draw from.
class Draws {
 public:
  Draws(const GenerateSpec& spec, std::uint64_t seed, const std::string& folder);
  std::uint64_t seed() const { return seed_; }
  std::int64_t input(std::int64_t index) const;
  std::int64_t output(std::int64_t index) const;
  // The limit that a request with so much output states.
  std::int64_t limit(std::int64_t output) const { return std::max(output, max_tokens_); }
  // The shared text that request `index` starts with; nothing without `system`.
  std::optional<Span> system_prompt(std::int64_t index) const;
  std::int64_t length(const Lengths& lengths, std::string_view name, std::int64_t index) const;
  Duration pause(const PauseSpec& spec, std::string_view name, std::int64_t index) const;

 private:
  std::uint64_t seed_;
  Lengths input_, output_;
  std::int64_t max_tokens_ = 0;
  struct SystemPrompt {
    Span span;
    double up_to;  // sum of the weights so far, of 1
  };
  std::vector<SystemPrompt> system_;
};

// Makes sessions: the requests that hang together, each after an earlier one of them but the first.
//
// build() answers session number `session`, whose requests get the indices from `base` on;
// `after` holds such indices. The first has no `after`, arrival is not set. At most `limit` of
// them.
class RequestKind {
 public:
  virtual ~RequestKind() = default;
  virtual void build(std::int64_t session, std::int64_t base, std::int64_t limit,
                     std::vector<RequestSpec>& out) const = 0;
};

// A row of the table of kinds. `parameters` names the fields of `workload.generate` it needs beyond
// the common ones.
struct RequestKindEntry {
  std::string_view name, summary, parameters;
  std::unique_ptr<RequestKind> (*make)(const GenerateSpec& spec, const Draws& draws,
                                       const std::string& folder);
};
std::span<const RequestKindEntry> request_kinds();
const RequestKindEntry* find_request_kind(std::string_view name);

std::unique_ptr<RequestKind> make_independent(const GenerateSpec& spec, const Draws& draws,
                                              const std::string& folder);
std::unique_ptr<RequestKind> make_chat(const GenerateSpec& spec, const Draws& draws,
                                       const std::string& folder);
std::unique_ptr<RequestKind> make_agent(const GenerateSpec& spec, const Draws& draws,
                                        const std::string& folder);

// Sets prompt_tokens.
void finish_prompt(RequestSpec& request);
// The history after a request: its prompt and what it made.
std::vector<Span> history_of(const RequestSpec& request);

}  // namespace kvsim::workload
