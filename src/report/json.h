#pragma once
#include <string>

#include "config/document.h"
#include "metrics/result.h"

namespace kvsim::report {

inline constexpr const char* run_schema = "kvsim.run/1";

// The result document kvsim.run/1: every field, full precision, equal results give equal bytes.
std::string to_json(const metrics::RunResult& result);

// The result in a document. Throws InputError with everything that is wrong with it.
metrics::RunResult read_result(const config::Document& document);

}  // namespace kvsim::report
