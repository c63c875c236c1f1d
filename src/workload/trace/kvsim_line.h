#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.h"
#include "workload/io/lines.h"
#include "workload/request.h"

namespace kvsim::workload {

// Limits of the format: no request is longer than this many tokens, no time later than this.
inline constexpr std::int64_t max_request_tokens = 1'000'000'000;
inline constexpr double max_trace_seconds = 1e9;

// One line of a request list (format kvsim) as written; buffers are reused from line to line.
struct KvsimLine {
  std::string_view id, session, after;  // into the line or into `names`
  Time arrival;
  std::vector<Span> prompt;
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 0, max_tokens = 0;
  std::int64_t priority = 0;
  std::uint64_t salt = 0, adapter = 0;
  Duration think;
  int id_column = 1, after_column = 1, arrival_column = 1;
  bool has_after = false;
  std::string names[3];  // id, session, after where the line holds them with escapes
};

// The reference reader of a line: every problem in it goes to `problems` with its place. False if
// there was one.
//
// {"id","arrival_s","prompt":[[content,length,offset?]...],"output_tokens","max_tokens","priority",
// "salt","adapter","session","after","think_s"}: id and prompt are required; arrival_s unless
// `after` is there; one of output_tokens and max_tokens, which then stands for both; the rest is 0
// or none.
bool read_kvsim_line(const Lines& lines, std::string_view text, KvsimLine& line,
                     std::vector<Diagnostic>& problems);

// The same for lines in their usual shape (no escapes, ASCII, known keys once, everything in range)
// at a multiple of the speed; false means nothing but "ask the reference reader".
bool scan_kvsim_line(std::string_view text, KvsimLine& line);

}  // namespace kvsim::workload
