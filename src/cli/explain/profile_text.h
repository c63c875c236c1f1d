#pragma once
#include <string>

#include "cli/context.h"
#include "engine/registry.h"

namespace kvsim::cli {

// What `kvsim explain profile NAME` prints: summary, version, and every rule with its source.
std::string profile_text(const engine::ProfileEntry& profile, const Context& context);
// The same as a document, kvsim.profile/1.
std::string profile_json(const engine::ProfileEntry& profile);

}  // namespace kvsim::cli
