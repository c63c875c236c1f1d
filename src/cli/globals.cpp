#include "cli/globals.h"

#include <fmt/format.h>

#include <cstdlib>

#include "cli/usage.h"
#include "config/document.h"

namespace kvsim::cli {

void describe(Flags& flags, Globals& g) {
  flags.section("Global flags");
  flags.flag("--json", g.json,
             "print exactly one JSON document; diagnostics become JSON lines on stderr");
  flags
      .option("--output,-o", g.output,
              "write the result to FILE instead of stdout, whole or not at all")
      .value("FILE")
      .completes(Complete::file);
  flags.option("--set", g.sets, "override one field of the scenario; may be repeated")
      .value("PATH=VALUE");
  flags.option("--seed", g.seed, "seed of all random streams (default: the scenario's)")
      .range(config::at_least(0));
  flags
      .option("--models-dir", g.models_dirs,
              "add a folder of models, GPUs, links and cost files; also KVSIM_MODELS")
      .value("DIR")
      .completes(Complete::folder);
  flags
      .option("--color", g.color,
              "colour on stdout and stderr; auto obeys NO_COLOR and CLICOLOR_FORCE")
      .words({"auto", "always", "never"})
      .value("WHEN");
  flags.flag("--quiet,-q", g.quiet, "errors only on stderr");
  flags.count("--verbose,-v", g.verbosity, "say more on stderr; may be repeated");
  flags.flag("--help,-h", g.help, "show this help");
  flags.flag("--version", g.version, "show the version").hide();
}

void settle(Globals& g) {
  for (const std::string& text : g.sets) {
    const auto equal = text.find('=');
    if (equal == std::string::npos || equal == 0)
      throw UsageError(
          fmt::format("--set: expected path=value, found {}", config::json_string(text)),
          "for example --set cluster.pools.0.replicas=4", "usage-value");
    g.overrides.push_back({text.substr(0, equal), text.substr(equal + 1), "--set " + text});
  }
  std::vector<std::string> folders;
  if (const char* list = std::getenv("KVSIM_MODELS")) {
    std::string_view rest = list;
    while (!rest.empty()) {
      const auto colon = rest.find(':');
      if (colon != 0) folders.emplace_back(rest.substr(0, colon));
      rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
    }
  }
  g.models_dirs.insert(g.models_dirs.begin(), folders.begin(), folders.end());
}

}  // namespace kvsim::cli
