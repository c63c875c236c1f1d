#pragma once
#include <string>
#include <string_view>

#include "workload/analysis/trace_info.h"

namespace kvsim::report {

inline constexpr std::string_view trace_schema = "kvsim.trace/1";

// The document kvsim.trace/1: `prefix_reuse` holds fractions for an unlimited cache, times are in
// seconds, lengths in tokens; `arrivals` is null for a trace without times.
std::string trace_info_json(const workload::TraceInfo& info, std::string_view format);

// The same for people: a table of lengths, arrivals, reuse and the hit rate by cache size.
std::string trace_info_text(const workload::TraceInfo& info, std::string_view format);

}  // namespace kvsim::report
