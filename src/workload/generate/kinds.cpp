#include "workload/generate/kinds.h"

#include <fmt/format.h>

#include <algorithm>

#include "random/stream.h"

namespace kvsim::workload {
namespace {

constexpr RequestKindEntry table[] = {
    {"independent", "requests that have nothing to do with one another but a system prompt", "",
     make_independent},
    {"chat", "conversations: each prompt is the whole history and a new question", "chat",
     make_chat},
    {"agent", "loops of calls with tool results, some with branches side by side", "agent",
     make_agent},
};

}  // namespace

std::span<const RequestKindEntry> request_kinds() { return table; }

const RequestKindEntry* find_request_kind(std::string_view name) {
  const auto at = std::ranges::find(table, name, &RequestKindEntry::name);
  return at == std::end(table) ? nullptr : at;
}

Draws::Draws(const GenerateSpec& spec, std::uint64_t seed, const std::string& folder)
    : seed_(seed),
      input_(spec.input, TraceColumn::input, folder),
      output_(spec.output, TraceColumn::output, folder),
      max_tokens_(spec.max_tokens.value_or(0)) {
  if (!spec.system) return;
  const Lengths tokens(spec.system->tokens, TraceColumn::input, folder);
  double sum = 0;
  for (std::int64_t k = 0; k < spec.system->count; ++k) {
    double weight = 1;
    if (!spec.system->weights.empty()) weight = spec.system->weights[static_cast<std::size_t>(k)];
    if (spec.system->zipf)
      weight = random::portable_exp(-*spec.system->zipf *
                                    random::portable_log(static_cast<double>(k + 1)));
    sum += weight;
    const std::int64_t length = tokens.draw(seed, "system-tokens", static_cast<std::uint64_t>(k));
    system_.push_back({{content_id(fmt::format("system{}", k)), 0, length}, sum});
  }
  for (SystemPrompt& prompt : system_) prompt.up_to /= sum;
}

std::int64_t Draws::length(const Lengths& lengths, std::string_view name,
                           std::int64_t index) const {
  return lengths.draw(seed_, name, static_cast<std::uint64_t>(index));
}
std::int64_t Draws::input(std::int64_t index) const { return length(input_, "input", index); }
std::int64_t Draws::output(std::int64_t index) const { return length(output_, "output", index); }

std::optional<Span> Draws::system_prompt(std::int64_t index) const {
  if (system_.empty()) return {};
  const double u = random::Stream(seed_, "system", static_cast<std::uint64_t>(index)).uniform();
  for (const SystemPrompt& prompt : system_)
    if (u < prompt.up_to) return prompt.span;
  return system_.back().span;
}

Duration Draws::pause(const PauseSpec& spec, std::string_view name, std::int64_t index) const {
  random::Stream stream(seed_, name, static_cast<std::uint64_t>(index));
  return draw(spec, stream);
}

void finish_prompt(RequestSpec& request) {
  request.prompt_tokens = 0;
  for (const Span& span : request.prompt) request.prompt_tokens += span.length;
}

std::vector<Span> history_of(const RequestSpec& request) {
  std::vector<Span> history = request.prompt;
  append_span(history, {output_content(request.id), 0, request.output_tokens});
  return history;
}

}  // namespace kvsim::workload
