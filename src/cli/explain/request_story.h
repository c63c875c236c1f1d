#pragma once
#include <string>
#include <string_view>

namespace kvsim::cli {

// One request's life as text, from what `run --requests-out` (or `run --detailed --json`) and
// `run --steps` wrote:
// when it arrived, was scheduled, found a prefix, was put back, got its tokens. `steps` may be
// empty: then the step-by-step lines are missing. Throws IoError; InputError for lines that are not
// such a file's or when no line is about `id` (with the nearest id).
std::string request_story(const std::string& requests, const std::string& steps,
                          std::string_view id);

}  // namespace kvsim::cli
