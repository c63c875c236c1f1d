#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.h"
#include "config/fields.h"
#include "config/reader.h"
#include "workload/generate/arrivals.h"
#include "workload/generate/distribution.h"
#include "workload/source.h"

namespace kvsim::workload {

// Prompts start with one of a few texts that many requests share.
struct SystemPromptSpec {
  std::int64_t count = 1;
  LengthSpec tokens;            // drawn once for each of them
  std::vector<double> weights;  // how often each is used; equal if not given
  std::optional<double> zipf;   // instead: the k-th (from 1) with weight 1 / k^zipf
};
void fields(config::FieldVisitor& v, SystemPromptSpec& spec);

// Conversations: every prompt is the whole history, outputs included, and new tokens.
struct ChatSpec {
  LengthSpec turns;
  PauseSpec think;  // between an answer and the next question
};
void fields(config::FieldVisitor& v, ChatSpec& spec);

// Agents: a loop of calls, each with the whole history and the result of a tool; some calls hand
// work to branches that start from the same context and run side by side.
struct AgentSpec {
  LengthSpec steps;                        // calls of the main loop
  LengthSpec tool_tokens;                  // result of the tool that a call asked for
  PauseSpec tool_time;                     // how long that tool runs
  double branch_probability = 0;           // that a call hands work to branches
  std::optional<LengthSpec> branches;      // side by side then; 2 if not given
  std::optional<LengthSpec> branch_steps;  // calls of each; 1 if not given
};
void fields(config::FieldVisitor& v, AgentSpec& spec);

// The scenario block `workload.generate`.
struct GenerateSpec {
  std::string kind;           // a name of request_kinds()
  std::int64_t requests = 0;  // in all; the last chat or agent is cut off there
  ArrivalSpec arrival;
  LengthSpec input;  // new tokens: the prompt, a question, a task
  LengthSpec output;
  std::optional<std::int64_t> max_tokens;  // that requests state; none: exactly their output
  std::optional<SystemPromptSpec> system;
  std::optional<ChatSpec> chat;
  std::optional<AgentSpec> agent;
  std::optional<std::int64_t>
      max_context;  // a chat or agent ends before prompt + output exceed this
};
void fields(config::FieldVisitor& v, GenerateSpec& spec);
void check(const GenerateSpec& spec, Diagnostics& diagnostics, const std::string& pointer);

// A file of its own with such a block: what `kvsim trace generate` reads.
inline constexpr std::string_view workload_schema = "kvsim.workload/1";
struct WorkloadFile {
  std::string name, purpose;
  std::int64_t seed = 1;
  GenerateSpec generate;
};
void fields(config::FieldVisitor& v, WorkloadFile& file);
// Throws InputError.
WorkloadFile read_workload_file(const config::Document& document,
                                config::Origins* origins = nullptr);

// The names of contents that are no request's: shared texts.
std::vector<std::string> known_contents(const GenerateSpec& spec);

// All randomness is drawn from streams (seed, purpose, request index): two specs that differ in one
// field draw the same for all others. Throws InputError and IoError (empirical lengths).
std::unique_ptr<RequestSource> generate(const GenerateSpec& spec, std::uint64_t seed,
                                        const std::string& folder = {});

}  // namespace kvsim::workload
