#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/flags.h"

namespace kvsim::cli {

enum class ColorChoice { automatic, always, never };

// --set path=value: one scenario field, overridden. `origin` is how errors call it.
struct Override {
  std::string path, value, origin;
};

// The flags that every command takes.
struct Globals {
  bool help = false;
  bool version = false;
  bool json = false;   // one document on stdout, diagnostics as JSON lines
  std::string output;  // file that replaces stdout; "" or "-" = stdout
  bool quiet = false;  // errors only
  int verbosity = 0;   // -v, -vv
  std::string color = "auto";
  std::vector<std::string> models_dirs;  // with those of KVSIM_MODELS in front
  std::optional<std::int64_t> seed;
  std::vector<std::string> sets;    // as typed
  std::vector<Override> overrides;  // the same, split
};

void describe(Flags& flags, Globals& globals);

// Splits --set and adds KVSIM_MODELS (folders separated by ':'). Throws UsageError.
void settle(Globals& globals);

}  // namespace kvsim::cli
