#include "diag/check.h"
#include "fuzz/targets.h"
#include "launch/command_line.h"
#include "launch/engine_log.h"

namespace kvsim::fuzz {

void command(std::string_view text) {
  const launch::Command command = launch::read_command(text, "input");
  KVSIM_CHECK(!command.engine.empty(), "a command without an engine");
  for (const launch::Setting& s : command.flags.settings)
    KVSIM_CHECK(s.flag.starts_with("--") && !s.from.empty(), "setting {} of {}", s.flag, s.from);
  for (const auto* list : {&command.flags.unmodelled, &command.flags.unknown})
    for (const launch::Leftover& l : *list) KVSIM_CHECK(!l.words.empty(), "a nameless leftover");
}

void engine_log(std::string_view text) {
  const launch::EngineLog log = launch::read_engine_log(text, "input");
  KVSIM_CHECK(!log.figures.empty() || !log.refusals.empty(), "a log without figures");
  for (const launch::Figure& f : log.figures) {
    KVSIM_CHECK(f.line > 0, "a figure without a line");
    KVSIM_CHECK(log.find(f.term) != nullptr, "figure {} is not found", launch::name(f.term));
  }
}

}  // namespace kvsim::fuzz
