#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "diag/suggest.h"
#include "workload/trace/format.h"

namespace kvsim::workload {
namespace {

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const TraceFormat& format : trace_formats()) names.emplace_back(format.name);
  return names;
}

[[noreturn]] void fail(std::string code, std::string message, const std::string& file,
                       std::string pointer, std::string hint) {
  Diagnostic d;
  d.code = std::move(code), d.message = std::move(message), d.file = file;
  d.pointer = std::move(pointer), d.hint = std::move(hint);
  throw InputError(std::move(d));
}

const TraceFormat& choose(Lines& lines, const TraceOptions& options) {
  if (options.format != "auto") {
    for (const TraceFormat& format : trace_formats())
      if (format.name == options.format) return format;
    std::vector<std::string> names = format_names();
    names.insert(names.begin(), "auto");
    fail("trace-format", fmt::format("unknown trace format \"{}\"", options.format), {},
         "/workload/trace/format", suggestion(options.format, names));
  }
  const std::string_view head = lines.head();
  if (head.find_first_not_of(" \t\r\n") == std::string_view::npos)
    no_requests(lines.name(), options);
  for (const TraceFormat& format : trace_formats())
    if (format.recognises(head)) return format;
  Diagnostic d;
  d.code = "trace-unrecognised", d.file = lines.name(), d.line = d.column = 1;
  d.message = "the first record is of no trace format that kvsim knows";
  d.hint = fmt::format("name the format: one of {}", fmt::join(format_names(), ", "));
  throw InputError(std::move(d));
}

void check_slice(const TraceOptions& options) {
  const Slice& slice = options.slice;
  if (slice.end && slice.end->value() <= slice.start.value())
    fail("trace-window",
         fmt::format("the window ends at {} s, not after its start at {} s", to_seconds(*slice.end),
                     to_seconds(slice.start)),
         {}, "/workload/trace/end_s", {});
}

Trace load(std::unique_ptr<Lines> lines, const TraceOptions& options) {
  check_slice(options);
  const TraceFormat& format = choose(*lines, options);
  return format.open(std::move(lines), options);
}

}  // namespace

void no_requests(const std::string& name, const TraceOptions& options) {
  const bool sliced = options.slice.start.value() > 0 || options.slice.end;
  fail("trace-empty",
       fmt::format("{}: no requests{}", name, sliced ? " in the window asked for" : ""), name, {},
       {});
}

Trace load_trace(const TraceOptions& options, const std::string& folder) {
  std::string path = options.file;
  if (path != "-" && !folder.empty() && std::filesystem::path(path).is_relative())
    path = (std::filesystem::path(folder) / path).string();
  return load(std::make_unique<Lines>(open_bytes(path), path == "-" ? "<stdin>" : path), options);
}

Trace load_trace_text(std::string text, const TraceOptions& options, std::string name) {
  auto bytes = bytes_of(std::move(text), name);
  return load(std::make_unique<Lines>(std::move(bytes), std::move(name)), options);
}

std::unique_ptr<RequestSource> open_trace(const TraceOptions& options, const std::string& folder) {
  return load_trace(options, folder).source;
}

std::unique_ptr<RequestSource> open_trace_text(std::string text, std::string_view format,
                                               std::string name) {
  TraceOptions options;
  options.format = std::string(format);
  return load_trace_text(std::move(text), options, std::move(name)).source;
}

}  // namespace kvsim::workload
