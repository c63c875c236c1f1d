#include "cases/case_check.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "config/document.h"
#include "support/json_pointer.h"

namespace kvsim::testing {
namespace {

using config::Document;
using config::Kind;
using config::Value;

bool is_number(Value value) {
  return value.kind() == Kind::integer || value.kind() == Kind::number;
}

bool same(Value a, Value b) {
  if (is_number(a) && is_number(b)) return a.number() == b.number();
  return a.kind() == b.kind() && a.json() == b.json();
}

// nullopt: the two cannot be compared that way.
std::optional<bool> holds(const Expectation& e, Value found, Value wanted) {
  if (e.comparison == "==") return same(found, wanted);
  if (e.comparison == "!=") return !same(found, wanted);
  if (!is_number(found) || !is_number(wanted)) return std::nullopt;
  const double a = found.number(), b = wanted.number();
  if (e.comparison == "within") return std::fabs(a - b) <= e.tolerance * std::fabs(b);
  if (e.comparison == "<") return a < b;
  if (e.comparison == "<=") return a <= b;
  if (e.comparison == ">") return a > b;
  return a >= b;
}

std::string check_json(const Expectation& e, Value root) {
  const Value found = at_pointer(root, e.pointer);
  if (e.kind == Expectation::Kind::missing)
    return found.exists() ? fmt::format("found {}", found.describe()) : "";
  if (!found.exists()) return "there is no such value";
  if (e.value[0] == '/') {
    const Value wanted = at_pointer(root, e.value);
    if (!wanted.exists()) return fmt::format("there is no {}", e.value);
    return holds(e, found, wanted).value_or(false)
               ? ""
               : fmt::format("found {} and {}", found.describe(), wanted.describe());
  }
  const Document wanted = Document::parse(e.value, e.text);
  return holds(e, found, wanted.root()).value_or(false) ? ""
                                                        : fmt::format("found {}", found.json());
}

}  // namespace

std::vector<std::string> check_outcome(const std::string& name, const Command& command,
                                       const Outcome& outcome) {
  std::vector<std::string> findings;
  const auto complain = [&](int line, const std::string& what) {
    findings.push_back(fmt::format("{}:{}: {}", name, line, what));
  };
  if (outcome.status != command.exit_status)
    complain(command.line, fmt::format("{}: exit status {}, expected {}\n{}", command.text,
                                       outcome.status, command.exit_status, outcome.err));

  std::optional<Document> document;
  for (const Expectation& e : command.expectations) {
    if (e.kind == Expectation::Kind::contains || e.kind == Expectation::Kind::lacks) {
      const std::string& text = e.in_stderr ? outcome.err : outcome.out;
      const bool contained = text.find(e.value) != std::string::npos;
      if (contained != (e.kind == Expectation::Kind::contains))
        complain(e.line, fmt::format("{}: found\n{}", e.text, text));
      continue;
    }
    try {
      if (!document) document = Document::parse(outcome.out, "stdout");
      if (const std::string problem = check_json(e, document->root()); !problem.empty())
        complain(e.line, fmt::format("{}: {}", e.text, problem));
    } catch (const InputError& error) {
      complain(e.line, fmt::format("{}: {}", e.text, error.what()));
    }
  }
  return findings;
}

std::vector<std::string> run_case(const Case& test, const std::string& folder) {
  std::vector<std::string> findings;
  for (const Command& command : test.commands)
    for (std::string& finding :
         check_outcome(test.name, command, run_kvsim(command.arguments, folder)))
      findings.push_back(std::move(finding));
  return findings;
}

}  // namespace kvsim::testing
