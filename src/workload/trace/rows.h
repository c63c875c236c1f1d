#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workload/io/lines.h"
#include "workload/source.h"
#include "workload/trace/format.h"

namespace kvsim::workload {

// What a row of a foreign trace says. `prompt` stays empty where the format has no prefix ids: the
// request then gets a content of its own.
struct TraceRow {
  Time arrival;
  std::int64_t input_tokens = 0, output_tokens = 0;
  std::vector<Span> prompt;
  std::string session;
  std::int64_t priority = 0;
};

// Rows of one foreign trace, front to back, in bounded memory.
class RowReader {
 public:
  virtual ~RowReader() = default;
  // False at the end. A row that cannot be used adds to `problems` and leaves `row` unspecified.
  virtual bool read(TraceRow& row, std::vector<Diagnostic>& problems) = 0;
  virtual const std::string& name() const = 0;
  // A diagnostic at the row last read.
  virtual Diagnostic here(std::string code, std::string message) const = 0;
  virtual std::vector<std::string> notes() const { return {}; }
};

// The slice of a foreign trace as requests r0, r1, ... (numbered over the whole trace, so that a
// slice keeps the names). Throws InputError for an empty trace at once, for a bad row when it is
// reached: up to 20 problems of the rest of the trace together.
Trace stream_trace(std::unique_ptr<RowReader> reader, const TraceOptions& options,
                   std::string_view format, bool has_times, bool has_sharing);

}  // namespace kvsim::workload
