#pragma once
#include <string>
#include <vector>

#include "cli/exit.h"
#include "compare/requirement.h"
#include "metrics/result.h"
#include "report/junit.h"

namespace kvsim::cli {

// The demands of --require: read before any work, judged against a result.
class Requirements {
 public:
  // Throws UsageError for text that is no demand or names no figure of a result.
  explicit Requirements(const std::vector<std::string>& texts);

  struct Judged {
    std::vector<std::string> lines;        // "ok      p99_ttft_ms 433 <= 500", "FAILED  ..."
    std::vector<report::JunitCase> cases;  // the same for --junit
    Exit exit = Exit::ok;                  // no when one is missed
  };
  Judged judge(const metrics::RunDocument& result) const;
  bool empty() const { return list_.empty(); }

 private:
  std::vector<compare::Requirement> list_;
};

}  // namespace kvsim::cli
