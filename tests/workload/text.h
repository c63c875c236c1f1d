#pragma once
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "diag/diagnostic.h"
#include "workload/trace/format.h"

// Helpers of the trace tests: whole traces from texts, and the errors they give.
namespace kvsim::workload {

inline std::vector<RequestSpec> everything(RequestSource& source) {
  std::vector<RequestSpec> all;
  RequestSpec request;
  while (source.list(request)) all.push_back(request);
  return all;
}

inline std::vector<RequestSpec> requests_of(const std::string& text,
                                            std::string_view format = "kvsim") {
  return everything(*open_trace_text(text, format, "t"));
}

// The diagnostics that reading gives; empty when it succeeds.
inline std::vector<Diagnostic> problems_of(const std::string& text,
                                           std::string_view format = "kvsim") {
  try {
    requests_of(text, format);
  } catch (const InputError& error) {
    return error.diagnostics();
  }
  return {};
}

// "code line:column pointer" of the only problem; else how many there were.
inline std::string problem_of(const std::string& text, std::string_view format = "kvsim") {
  const auto problems = problems_of(text, format);
  if (problems.size() != 1) return std::to_string(problems.size()) + " problems";
  const Diagnostic& d = problems[0];
  CHECK(d.file == "t");
  CHECK(!d.message.empty());
  return d.code + " " + std::to_string(d.line) + ":" + std::to_string(d.column) + " " + d.pointer;
}

}  // namespace kvsim::workload
