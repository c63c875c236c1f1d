#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/flags.h"
#include "planner/answers.h"

namespace kvsim::cli {

// What `plan` is asked beside the plan itself.
class PlanQuestions {
 public:
  void describe(Flags& flags);
  // Throws UsageError for words that cannot be read, InputError and IoError for a trace.
  planner::Questions read() const;

 private:
  std::optional<std::string> lengths_;
  std::optional<std::string> streams_;
  std::vector<std::string> room_;
};

}  // namespace kvsim::cli
