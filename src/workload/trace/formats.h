#pragma once
#include "workload/trace/format.h"

// The formats behind the registry, one file each.
namespace kvsim::workload {

bool recognises_kvsim(std::string_view head);
Trace open_kvsim(std::unique_ptr<Lines> lines, const TraceOptions& options);

}  // namespace kvsim::workload
