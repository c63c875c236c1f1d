#include "compare/requirement.h"

#include <cmath>

#include "diag/check.h"
#include "fuzz/targets.h"

namespace kvsim::fuzz {

void requirement(std::string_view text) {
  compare::Requirement read;
  compare::Problem problem;
  if (compare::parse_requirement(text, read, problem)) {
    KVSIM_CHECK(!read.field.empty() && std::isfinite(read.value), "{} is read as {} {}", text,
                read.field, read.value);
  } else {
    KVSIM_CHECK(!problem.message.empty(), "{} is refused without a word", text);
  }
}

}  // namespace kvsim::fuzz
