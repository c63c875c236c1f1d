#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/commands/plan_flags.h"
#include "cli/flags.h"
#include "planner/answers.h"

namespace kvsim::cli {

// What `plan` is asked beside the plan itself.
class PlanQuestions {
 public:
  void describe(Flags& flags);
  // Throws UsageError for words that cannot be read, InputError and IoError for a trace.
  planner::Questions read() const;
  // The other deployment of --against: its flags on top of `here`. Empty when not asked. Throws
  // UsageError and InputError, as for the line's own flags.
  std::optional<PlanFlags> against(const PlanFlags& here) const;
  const std::string& against_words() const { return *against_; }

 private:
  std::optional<std::string> lengths_, streams_, against_;
  std::vector<std::string> room_;
};

}  // namespace kvsim::cli
