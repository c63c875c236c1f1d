#pragma once
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "kernels/host/device.h"

namespace kvsim::kernels::bench {

enum class Action { measure, list, version, help };

// What is done with the cases: `check` takes no times and no ceilings.
enum class Scope { full, check };

struct Options {
  Action action = Action::measure;
  Backend backend = Backend::gpu;
  Scope scope = Scope::full;
  bool quick = false;       // the quick cases only
  double budget_s = 220;    // nothing new starts after it
  std::string filter = {};  // cases whose id holds it
  std::uint64_t seed = 1;
  std::string output = {};  // "" = stdout
};

// The command line cannot be understood; the text says why, with the nearest flag.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Options parse_options(std::span<const char* const> arguments);
std::string help_text();

}  // namespace kvsim::kernels::bench
