#pragma once
#include <string>
#include <string_view>

#include "config/document.h"
#include "metrics/result.h"

namespace kvsim::report {

inline constexpr std::string_view run_schema = "kvsim.run/1";

// The result document kvsim.run/1: every field, full precision, equal results give equal bytes.
// The detailed one has the field "requests" as well.
std::string to_json(const metrics::RunDocument& result);
std::string to_json_detailed(const metrics::RunResult& result);

// The result in a document. Throws InputError with everything that is wrong with it.
metrics::RunResult read_result(const config::Document& document);

}  // namespace kvsim::report
