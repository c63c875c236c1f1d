#include "cli/commands/plan_questions.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/usage.h"
#include "launch/shell_words.h"
#include "units/parse.h"

namespace kvsim::cli {
namespace {

constexpr std::int64_t most_tokens = 1 << 30, most_requests = 1000000;

std::optional<std::int64_t> count(std::string_view text, std::int64_t most) {
  const auto n = parse_integer(text);
  return n && *n >= 1 && *n <= most ? n : std::nullopt;
}

planner::LengthMix lengths_of(const std::string& text) {
  if (auto mix = planner::parse_length_mix(text)) return *std::move(mix);
  const bool like_a_number = !text.empty() && text[0] >= '0' && text[0] <= '9';
  if (like_a_number && !std::filesystem::exists(text))
    throw UsageError(fmt::format("--lengths: \"{}\" is neither a length nor a file", text),
                     "give N, IN:OUT, MEAN+-STD, MEAN+-STD:MEAN+-STD in tokens, or a trace",
                     "usage-value");
  return planner::read_length_mix(text);
}

std::vector<std::int64_t> streams_of(std::string_view text) {
  std::vector<std::int64_t> list;
  while (true) {
    const auto comma = text.find(',');
    const auto n = count(text.substr(0, comma), most_tokens);
    if (!n)
      throw UsageError(fmt::format("--streams: expected a number of tokens, found \"{}\"",
                                   text.substr(0, comma)),
                       "several with commas between: --streams 4000,4096", "usage-value");
    list.push_back(*n);
    if (comma == std::string_view::npos) return list;
    text.remove_prefix(comma + 1);
  }
}

planner::RoomAsk room_of(std::string_view text) {
  const auto colon = text.find(':');
  const auto requests = count(text.substr(0, colon), most_requests);
  const auto tokens =
      colon == std::string_view::npos ? std::nullopt : count(text.substr(colon + 1), most_tokens);
  if (!requests || !tokens)
    throw UsageError(fmt::format("--room: expected REQUESTS:TOKENS, found \"{}\"", text),
                     "for example --room 16:8192", "usage-value");
  return {*requests, *tokens};
}

}  // namespace

void PlanQuestions::describe(Flags& flags) {
  flags.section("Questions");
  flags
      .option("--lengths", lengths_,
              "requests that fit at once at these lengths: a trace, N, IN:OUT, MEAN+-STD tokens")
      .value("LENGTHS")
      .completes(Complete::file);
  flags
      .option("--streams", streams_,
              "requests of these lengths that fit at once, by every definition in use")
      .value("TOKENS,...");
  flags
      .option("--room", room_,
              "what to set for room for so many requests of so many tokens; may be repeated")
      .value("REQUESTS:TOKENS");
  flags
      .option("--against", against_,
              "compare with the deployment that these flags make of this one, term by term")
      .value("'FLAGS'")
      .of_flags();
}

std::optional<PlanFlags> PlanQuestions::against(const PlanFlags& here) const {
  if (!against_) return std::nullopt;
  std::vector<std::string> words;
  for (const auto& command : launch::shell_commands(*against_, "--against"))
    for (const launch::Word& word : command) words.push_back(word.text);
  if (words.empty())
    throw UsageError("--against needs flags of plan",
                     "for example --against '--kv-cache-dtype fp8'", "usage-value");
  PlanFlags there;
  try {
    there = PlanFlags::from_words(words);
  } catch (const UsageError& error) {
    const Diagnostic& d = error.diagnostic();
    throw UsageError("--against: " + d.message, d.hint, d.code);
  }
  there.fill(here);
  return there;
}

planner::Questions PlanQuestions::read() const {
  planner::Questions q;
  if (streams_) q.streams = streams_of(*streams_);
  for (const std::string& text : room_) q.room.push_back(room_of(text));
  if (lengths_) q.lengths = lengths_of(*lengths_);
  return q;
}

}  // namespace kvsim::cli
