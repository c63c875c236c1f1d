#include "workload/trace/formats.h"

namespace kvsim::workload {
namespace {

constexpr TraceFormat table[] = {
    {"kvsim", "request list, JSON lines: spans, priorities, sessions, followers", recognises_kvsim,
     open_kvsim},
};

}  // namespace

std::span<const TraceFormat> trace_formats() { return table; }

}  // namespace kvsim::workload
