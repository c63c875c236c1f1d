#include "workload/generate/spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/reader.h"
#include "diag/suggest.h"
#include "workload/generate/kinds.h"

namespace kvsim::workload {

void fields(config::FieldVisitor& v, SystemPromptSpec& s) {
  using namespace config;
  v.field({"count", "how many different ones there are"}, s.count, between(1, 1e6));
  v.object({"tokens", "length, drawn once for each", "", true}, s.tokens);
  v.field({"weights", "how often each is used; equally if not given"}, s.weights, between(0, 1e9));
  v.field({"zipf", "instead of weights: the k-th has weight 1 / k^zipf"}, s.zipf, between(0, 10));
}

void fields(config::FieldVisitor& v, ChatSpec& s) {
  v.object({"turns", "questions of a conversation", "", true}, s.turns);
  v.object({"think", "pause between an answer and the next question"}, s.think);
}

void fields(config::FieldVisitor& v, AgentSpec& s) {
  using namespace config;
  v.object({"steps", "calls of the main loop", "", true}, s.steps);
  v.object({"tool_tokens", "length of a tool's result", "", true}, s.tool_tokens);
  v.object({"tool_time", "how long a tool runs"}, s.tool_time);
  v.field({"branch_probability", "that a call hands work to branches"}, s.branch_probability,
          between(0, 1));
  v.object({"branches", "branches of such a call, side by side; 2 if not given"}, s.branches);
  v.object({"branch_steps", "calls of each branch; 1 if not given"}, s.branch_steps);
}

void fields(config::FieldVisitor& v, GenerateSpec& s) {
  using namespace config;
  v.field({"kind", "independent, chat or agent", "", true}, s.kind);
  v.field({"requests", "how many in all; the last chat or agent is cut off there", "", true},
          s.requests, between(1, 1e9));
  v.object({"arrival", "when requests, chats or agents arrive", "", true}, s.arrival);
  v.object({"input", "new tokens of a prompt: question, task", "", true}, s.input);
  v.object({"output", "tokens of an answer", "", true}, s.output);
  v.object({"system", "prompts start with one of these shared texts"}, s.system);
  v.object({"chat", "kind chat: conversations"}, s.chat);
  v.object({"agent", "kind agent: loops of calls"}, s.agent);
  v.field({"max_tokens",
           "limit that every request states, at least its output; unset: exactly its output, which "
           "engines that reserve the limit can then count on"},
          s.max_tokens, between(1, 1e9));
  v.field({"max_context", "a chat or agent ends before prompt and output exceed this many tokens"},
          s.max_context, at_least(2));
}

void check(const GenerateSpec& s, Diagnostics& diagnostics, const std::string& pointer) {
  const auto add = [&](const std::string& where, std::string message, std::string hint = {}) {
    Diagnostic d;
    d.code = "workload-generate", d.pointer = pointer + where, d.message = std::move(message),
    d.hint = std::move(hint);
    diagnostics.add(std::move(d));
  };
  if (!find_request_kind(s.kind)) {
    std::vector<std::string> names;
    for (const RequestKindEntry& entry : request_kinds()) names.emplace_back(entry.name);
    add("/kind", fmt::format("unknown kind of requests \"{}\"", s.kind), suggestion(s.kind, names));
  }
  const auto belongs = [&](const char* kind, bool given) {
    if (s.kind == kind && !given)
      add("", fmt::format("kind \"{}\" needs the block \"{}\"", kind, kind));
    if (s.kind != kind && given)
      add(fmt::format("/{}", kind),
          fmt::format("the block \"{}\" has no meaning for kind \"{}\"", kind, s.kind));
  };
  belongs("chat", s.chat.has_value()), belongs("agent", s.agent.has_value());
  if (s.max_context && s.kind == "independent")
    add("/max_context",
        "max_context has no meaning for kind \"independent\": bound input and output");
  check(s.arrival, diagnostics, pointer + "/arrival");
  check(s.input, diagnostics, pointer + "/input");
  check(s.output, diagnostics, pointer + "/output");
  if (s.system) {
    check(s.system->tokens, diagnostics, pointer + "/system/tokens");
    if (!s.system->weights.empty() &&
        static_cast<std::int64_t>(s.system->weights.size()) != s.system->count)
      add("/system/weights", fmt::format("{} weights for {} system prompts",
                                         s.system->weights.size(), s.system->count));
    if (!s.system->weights.empty() && s.system->zipf)
      add("/system/zipf", "weights and zipf are two ways to say the same: keep one");
    if (!s.system->weights.empty() && *std::ranges::max_element(s.system->weights) <= 0)
      add("/system/weights", "all weights are 0");
  }
  if (s.chat)
    check(s.chat->turns, diagnostics, pointer + "/chat/turns"),
        check(s.chat->think, diagnostics, pointer + "/chat/think");
  if (s.agent) {
    check(s.agent->steps, diagnostics, pointer + "/agent/steps");
    check(s.agent->tool_tokens, diagnostics, pointer + "/agent/tool_tokens");
    check(s.agent->tool_time, diagnostics, pointer + "/agent/tool_time");
    if (s.agent->branches) check(*s.agent->branches, diagnostics, pointer + "/agent/branches");
    if (s.agent->branch_steps)
      check(*s.agent->branch_steps, diagnostics, pointer + "/agent/branch_steps");
  }
}

void fields(config::FieldVisitor& v, WorkloadFile& file) {
  using namespace config;
  v.field({"name", "what it is called"}, file.name);
  v.field({"purpose", "one line: what it is for"}, file.purpose);
  v.field({"seed", "equal seeds make equal requests"}, file.seed, at_least(0));
  v.object({"generate", "as in a scenario's workload", "", true}, file.generate);
}

WorkloadFile read_workload_file(const config::Document& document, config::Origins* origins) {
  Diagnostics diagnostics;
  WorkloadFile file;
  config::read(document.root(), file, diagnostics, workload_schema, origins);
  diagnostics.throw_if_errors();
  check(file.generate, diagnostics, "/generate");
  diagnostics.throw_if_errors();
  return file;
}

std::vector<std::string> known_contents(const GenerateSpec& spec) {
  std::vector<std::string> names;
  for (std::int64_t k = 0; spec.system && k < spec.system->count; ++k)
    names.push_back(fmt::format("system{}", k));
  return names;
}

}  // namespace kvsim::workload
