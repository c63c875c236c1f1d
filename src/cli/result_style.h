#pragma once
#include <string>

#include "cli/context.h"
#include "report/exporter.h"

namespace kvsim::cli {

// How a result is to look here: block characters only where the locale is UTF-8. `scenario` is how
// the user named the scenario.
report::Style result_style(std::string scenario);

}  // namespace kvsim::cli
