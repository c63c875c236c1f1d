#include "cli/requirements.h"

#include "cli/usage.h"
#include "report/json.h"

namespace kvsim::cli {
namespace {

compare::Figures figures(const metrics::RunDocument& result) {
  return compare::Figures(config::Document::parse(report::to_json(result), "result"));
}

}  // namespace

Requirements::Requirements(const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  // Figures of a result that has everything: all engines have the same ones.
  metrics::RunDocument any;
  any.engines.resize(1);
  any.verdict.overload.emplace();
  const compare::Figures known = figures(any);
  for (const std::string& text : texts) {
    compare::Requirement requirement;
    compare::Problem problem;
    if (!compare::parse_requirement(text, requirement, problem)) {
      throw UsageError("--require: " + problem.message, problem.hint, "usage-require");
    }
    const bool later_engine = requirement.field.starts_with("engines.");
    if (!later_engine && !compare::has_field(requirement, known, problem)) {
      throw UsageError("--require: " + problem.message, problem.hint, "usage-require");
    }
    list_.push_back(std::move(requirement));
  }
}

Requirements::Judged Requirements::judge(const metrics::RunDocument& result) const {
  Judged out;
  if (list_.empty()) return out;
  const compare::Figures found = figures(result);
  for (const compare::Requirement& requirement : list_) {
    compare::Problem problem;
    if (!compare::has_field(requirement, found, problem)) {
      throw UsageError("--require: " + problem.message, problem.hint, "usage-require");
    }
    const compare::Outcome outcome = compare::check(requirement, found);
    out.lines.push_back((outcome.ok ? "ok      " : "FAILED  ") + outcome.text);
    out.cases.push_back({requirement.text, outcome.ok ? std::string() : outcome.text});
    if (!outcome.ok) out.exit = Exit::no;
  }
  return out;
}

}  // namespace kvsim::cli
