#include <fmt/format.h>

#include <algorithm>

#include "random/stream.h"
#include "workload/generate/kinds.h"

namespace kvsim::workload {
namespace {

// The main loop goes on when the branch that makes most tokens has ended, and its next prompt
// holds the last answer of each: a request list can name one predecessor alone.
class Agent final : public RequestKind {
 public:
  Agent(const GenerateSpec& spec, const Draws& draws, const std::string& folder)
      : spec_(*spec.agent),
        draws_(draws),
        steps_(spec_.steps, TraceColumn::input, folder),
        tool_tokens_(spec_.tool_tokens, TraceColumn::input, folder),
        branches_(spec_.branches.value_or(fixed_length(2)), TraceColumn::input, folder),
        branch_steps_(spec_.branch_steps.value_or(fixed_length(1)), TraceColumn::input, folder),
        max_context_(spec.max_context) {}

  void build(std::int64_t session, std::int64_t base, std::int64_t limit,
             std::vector<RequestSpec>& out) const override {
    out.clear();
    Session s{fmt::format("s{}", session), base, limit, out};
    std::vector<Span> context;
    if (const auto system = draws_.system_prompt(base)) context.push_back(*system);
    const std::int64_t steps = draws_.length(steps_, "steps", base);
    std::int64_t leader = -1;
    for (std::int64_t step = 0; step < steps; ++step) {
      if (!call(s, fmt::format("{}.a{}", s.name, step), context, leader)) return;
      leader = s.out.back().index;
      context = history_of(s.out.back());
      if (step + 1 < steps &&
          random::Stream(draws_.seed(), "branch", static_cast<std::uint64_t>(leader)).uniform() <
              spec_.branch_probability)
        leader = run_branches(s, context, leader);
      if (leader < 0) return;
    }
  }

 private:
  struct Session {
    std::string name;
    std::int64_t base, limit;
    std::vector<RequestSpec>& out;
  };

  // Adds a call on `context`; false when the session is full.
  bool call(Session& s, std::string id, const std::vector<Span>& context,
            std::int64_t leader) const {
    RequestSpec r;
    r.index = s.base + static_cast<std::int64_t>(s.out.size());
    if (r.index - s.base >= s.limit) return false;
    r.id = std::move(id), r.session = s.name;
    r.prompt = context;
    const bool first = leader < 0;
    append_span(r.prompt, {content_id(r.id), 0,
                           first ? draws_.input(r.index)
                                 : draws_.length(tool_tokens_, "tool-tokens", r.index)});
    if (!first) r.after = leader, r.think = draws_.pause(spec_.tool_time, "tool-time", r.index);
    r.output_tokens = draws_.output(r.index);
    r.max_tokens = draws_.limit(r.output_tokens);
    finish_prompt(r);
    if (!first && max_context_ && r.prompt_tokens + r.output_tokens > *max_context_) return false;
    s.out.push_back(std::move(r));
    return true;
  }

  // Runs the branches of call `leader`, adds their last answers to `context` and answers the
  // index of the one to wait for; -1 when the session is full.
  std::int64_t run_branches(Session& s, std::vector<Span>& context, std::int64_t leader) const {
    const std::int64_t branches = draws_.length(branches_, "branches", leader);
    const std::vector<Span> shared = context;
    std::int64_t wait_for = leader, most = -1;
    for (std::int64_t b = 0; b < branches; ++b) {
      const std::int64_t steps = draws_.length(branch_steps_, "branch-steps", leader * 1024 + b);
      std::vector<Span> own = shared;
      std::int64_t last = leader, made = 0;
      for (std::int64_t step = 0; step < steps; ++step) {
        if (!call(s, fmt::format("{}.a{}.b{}.{}", s.name, leader - s.base, b, step), own, last))
          return -1;
        last = s.out.back().index;
        made += s.out.back().output_tokens;
        own = history_of(s.out.back());
      }
      append_span(context, {output_content(s.out.back().id), 0, s.out.back().output_tokens});
      if (made >= most) most = made, wait_for = last;
    }
    return wait_for;
  }

  AgentSpec spec_;
  const Draws& draws_;
  Lengths steps_, tool_tokens_, branches_, branch_steps_;
  std::optional<std::int64_t> max_context_;
};

}  // namespace

std::unique_ptr<RequestKind> make_agent(const GenerateSpec& spec, const Draws& draws,
                                        const std::string& folder) {
  return std::make_unique<Agent>(spec, draws, folder);
}

}  // namespace kvsim::workload
