#pragma once
#include <string>
#include <string_view>

#include "compare/figures.h"

namespace kvsim::compare {

// A demand on one figure of a result: "p99_ttft_ms<=500", "kv.preemptions == 0",
// "p99_ttft_ms<=0.5s", "prefix_hit_rate_tokens>=30%".
struct Requirement {
  enum class Op { less_equal, less, greater_equal, greater, equal };
  std::string text;   // as given
  std::string field;  // short name or dotted path
  Op op = Op::less_equal;
  double value = 0;  // in the figure's own unit
};

// Why a demand cannot be used: what is wrong, and what to write instead.
struct Problem {
  std::string message, hint;
};

// Reads FIELD OP VALUE with OP one of <= < >= > ==. The value is a number in the field's unit; a
// time may carry its unit where the field ends in _ms or _s or is "duration", a share its %.
// True: `out` is filled. False: `problem` is.
bool parse_requirement(std::string_view text, Requirement& out, Problem& problem);

// Whether `figures` has such a field; else fills `problem` with the nearest one.
bool has_field(const Requirement& requirement, const Figures& figures, Problem& problem);

struct Outcome {
  bool ok = false;
  std::string text;  // "p99_ttft_ms 433 <= 500", "request_goodput is null: ..."
};
// Requires has_field(). A figure that is null meets no demand.
Outcome check(const Requirement& requirement, const Figures& figures);

}  // namespace kvsim::compare
