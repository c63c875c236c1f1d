#pragma once
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

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
  std::string filter = {};  // cases whose id holds it, or of the family of that name
  std::uint64_t seed = 1;
  std::string output = {};  // "" = stdout
};

// The command line cannot be understood; the text says why, with what may have been meant, and
// `next` what to do about it.
struct UsageError : std::runtime_error {
  explicit UsageError(const std::string& what, std::string next_step = "kvbench --help")
      : std::runtime_error(what), next(std::move(next_step)) {}
  std::string next;
};

Options parse_options(std::span<const char* const> arguments);
std::string help_text();

}  // namespace kvsim::kernels::bench
