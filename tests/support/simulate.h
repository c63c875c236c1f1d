#pragma once
#include <string>
#include <vector>

#include "metrics/result.h"
#include "scenario/load.h"
#include "scenario/run.h"

namespace kvsim::testing {

// A scenario from text, resolved; relative files are looked up in `folder`.
scenario::Resolved resolve_text(const std::string& text, const std::string& folder = ".",
                                const std::vector<scenario::Override>& overrides = {});

// The same, simulated with every request kept.
metrics::RunResult simulate_text(const std::string& text, const std::string& folder = ".",
                                 const std::vector<scenario::Override>& overrides = {});

}  // namespace kvsim::testing
