#pragma once
#include <string>
#include <vector>

#include "cli/commands/plan_flags.h"
#include "launch/command_line.h"
#include "launch/engine_log.h"
#include "spec/catalog.h"

// A deployment that somebody pasted instead of giving it in plan's flags.
namespace kvsim::cli {

// Reads the command of an engine in `path` ("-" = stdin) and fills `flags` with what it sets;
// flags given on kvsim's own line stay, and the command's are marked as overridden. What plan
// cannot express is added to `warnings`. Throws IoError, and InputError for a command that cannot
// be read, a model that the catalog lacks, or values that plan does not take.
launch::Command fill_from_command(PlanFlags& flags, const std::string& path,
                                  const spec::Catalog& catalog, std::vector<std::string>& warnings);

// The same for a start-up log. A GPU that is not given is deduced from the total memory that the
// log prints, when just one of the catalog reports as much; UsageError otherwise.
launch::EngineLog fill_from_log(PlanFlags& flags, const std::string& path,
                                const spec::Catalog& catalog, std::vector<std::string>& warnings);

// Where the settings of a command or a log were found, for errors: the file and what to call it.
struct PastedText {
  std::string file;
  std::string kind;  // "command", "log"
};

// The same for settings and a model from anywhere: model names as hubs spell them, weight formats
// in their endings.
void fill_from_translation(PlanFlags& flags, launch::Translation& translation,
                           const PastedText& pasted, const spec::Catalog& catalog,
                           std::vector<std::string>& warnings);

// What of a command or a log plan cannot say but a scenario can. No warning speaks of these: who
// writes no scenario warns with left_out().
std::vector<launch::Leftover> scenario_fields(const launch::Translation& translation);
std::string left_out(const launch::Leftover& leftover, std::string_view kind);

}  // namespace kvsim::cli
