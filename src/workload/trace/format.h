#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "workload/io/lines.h"
#include "workload/source.h"
#include "workload/trace/options.h"

namespace kvsim::workload {

// A trace that was opened: `source` delivers its slice, arrivals from 0.
struct Trace {
  std::unique_ptr<RequestSource> source;
  std::string format;       // name of its row in the registry
  bool has_times = true;    // false: lengths only, every arrival is 0
  bool has_sharing = true;  // false: nothing in the format says which prompts share a prefix
};

// One trace format. `recognises` sees the start of the text (256 KiB at most); `open` throws
// InputError for what it cannot read and for a trace without requests.
struct TraceFormat {
  std::string_view name;
  std::string_view summary;
  bool (*recognises)(std::string_view head);
  Trace (*open)(std::unique_ptr<Lines> lines, const TraceOptions& options);
};
// In the order in which `auto` asks them.
std::span<const TraceFormat> trace_formats();

// Throws IoError when the file cannot be opened, InputError when it is not a trace. `folder` is
// what a relative file is relative to ("" = the current folder).
Trace load_trace(const TraceOptions& options, const std::string& folder = {});
// The same of a text in memory; `name` is what errors call it.
Trace load_trace_text(std::string text, const TraceOptions& options, std::string name);

std::unique_ptr<RequestSource> open_trace(const TraceOptions& options,
                                          const std::string& folder = {});
std::unique_ptr<RequestSource> open_trace_text(std::string text, std::string_view format,
                                               std::string name);

// The one error of a trace in which nothing is left.
[[noreturn]] void no_requests(const std::string& name, const TraceOptions& options);

}  // namespace kvsim::workload
