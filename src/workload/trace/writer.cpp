#include "workload/trace/writer.h"

#include <fmt/format.h>

#include "diag/diagnostic.h"
#include "diag/suggest.h"

namespace kvsim::workload {
namespace {

constexpr TraceWriterEntry table[] = {
    {"kvsim", "request list: everything", make_kvsim_writer},
    {"mooncake",
     "JSON lines with one hash id per 512-token block: no followers, no sharing inside a block",
     make_mooncake_writer},
    {"azure", "CSV of dates and lengths: no sharing", make_azure_writer},
    {"vidur", "CSV of seconds and lengths: no sharing", make_vidur_writer},
    {"lengths", "JSON lines of [input, output]: no sharing, no times", make_lengths_writer},
};

}  // namespace

std::span<const TraceWriterEntry> trace_writers() { return table; }

std::unique_ptr<TraceWriter> make_trace_writer(std::string_view format,
                                               const WriteOptions& options) {
  std::vector<std::string> names;
  for (const TraceWriterEntry& entry : table) {
    if (entry.name == format) return entry.make(options);
    names.emplace_back(entry.name);
  }
  Diagnostic d;
  d.code = "trace-format",
  d.message = fmt::format("traces cannot be written in format \"{}\"", format);
  d.hint = suggestion(format, names);
  throw InputError(std::move(d));
}

void Losses::add(const std::string& what, const RequestSpec& request) {
  ++counts_[what];
  if (loss_ == Loss::count) return;
  Diagnostic d;
  d.code = "trace-lossy";
  d.message = fmt::format("request {}: format {} cannot say {}", request.id, format_, what);
  d.hint = "--lossy leaves out what cannot be said, and counts it";
  throw InputError(std::move(d));
}

std::vector<std::string> Losses::notes() const {
  std::vector<std::string> all;
  for (const auto& [what, count] : counts_)
    all.push_back(fmt::format("lost in {} requests: {}", count, what));
  return all;
}

std::string decimal(std::int64_t nanoseconds, int digits) {
  std::int64_t unit = 1;
  for (int i = 0; i < digits; ++i) unit *= 10;
  std::string text = fmt::format("{}.{:0{}}", nanoseconds / unit, nanoseconds % unit, digits);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace kvsim::workload
