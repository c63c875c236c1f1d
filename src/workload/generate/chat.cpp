#include <fmt/format.h>

#include "workload/generate/kinds.h"

namespace kvsim::workload {
namespace {

class Chat final : public RequestKind {
 public:
  Chat(const GenerateSpec& spec, const Draws& draws, const std::string& folder)
      : spec_(*spec.chat),
        draws_(draws),
        turns_(spec_.turns, TraceColumn::input, folder),
        max_context_(spec.max_context) {}

  void build(std::int64_t session, std::int64_t base, std::int64_t limit,
             std::vector<RequestSpec>& out) const override {
    out.clear();
    const std::int64_t turns = std::min(draws_.length(turns_, "turns", base), limit);
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      RequestSpec r;
      r.index = base + turn;
      r.session = fmt::format("s{}", session);
      r.id = fmt::format("{}.t{}", r.session, turn);
      if (turn == 0) {
        if (const auto system = draws_.system_prompt(base)) r.prompt.push_back(*system);
      } else {
        r.prompt = history_of(out.back());
        r.after = r.index - 1;
        r.think = draws_.pause(spec_.think, "think", r.index);
      }
      append_span(r.prompt, {content_id(r.id), 0, draws_.input(r.index)});
      r.output_tokens = draws_.output(r.index);
      r.max_tokens = draws_.limit(r.output_tokens);
      finish_prompt(r);
      if (turn > 0 && max_context_ && r.prompt_tokens + r.output_tokens > *max_context_) return;
      out.push_back(std::move(r));
    }
  }

 private:
  ChatSpec spec_;
  const Draws& draws_;
  Lengths turns_;
  std::optional<std::int64_t> max_context_;
};

}  // namespace

std::unique_ptr<RequestKind> make_chat(const GenerateSpec& spec, const Draws& draws,
                                       const std::string& folder) {
  return std::make_unique<Chat>(spec, draws, folder);
}

}  // namespace kvsim::workload
