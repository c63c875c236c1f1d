#include "conform/case.h"

#include <fmt/format.h>

#include <algorithm>

#include "conform/arguments.h"

namespace kvsim::conform {
namespace {

// The name in a JSON pointer: "/engine/kv_groups/1/kind" -> "engine.kv_groups.1.kind".
std::string field_of(const std::string& pointer) {
  std::string name = pointer.empty() ? pointer : pointer.substr(1);
  std::ranges::replace(name, '/', '.');
  return name;
}

}  // namespace

config::Value at_pointer(config::Value value, std::string_view pointer) {
  while (value.exists() && !pointer.empty()) {
    pointer.remove_prefix(1);
    const std::string_view part = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(part.size());
    if (value.is_object()) {
      value = value.find(part);
    } else {
      std::size_t index = value.is_array() ? 0 : value.size();
      for (const char c : part) index = index * 10 + static_cast<std::size_t>(c - '0');
      value = value.is_array() && index < value.size() ? value.at(index) : config::Value{};
    }
  }
  return value;
}

std::string case_id(config::Value root) { return Arguments(root).text("id"); }

void refuse_step_log(config::Value root) {
  if (!root.is_object() || root.find("id").exists()) return;
  for (const char* key : {"step", "time_s", "scheduled", "free_blocks"})
    if (!root.find(key).exists()) return;
  throw InputError(root.diagnostic(
      std::string(step_log_code),
      "this is a step log, as kvsim run --steps writes it, and not a recorded case",
      "a case holds settings, requests and steps of an engine in one object per line: "
      "docs/howto/check-an-engine-trace.md; the fields of a step log: "
      "docs/reference/step-log.md"));
}

Outcome replay_case(const config::Document& line, const spec::Catalog& catalog) {
  const config::Value root = line.root();
  Arguments about(root);
  const bool steps = about.has("steps"), operations = about.has("ops");
  if (steps == operations)
    throw InputError(root.diagnostic("conform-case",
                                     "a recorded case has either \"steps\" or \"ops\"",
                                     "the formats are in docs/howto/check-an-engine-trace.md"));
  try {
    return steps ? replay_steps(root, catalog) : replay_operations(root);
  } catch (const InputError& error) {
    const auto refused =
        std::ranges::find(error.diagnostics(), unsupported_code, &Diagnostic::code);
    const bool all = std::ranges::all_of(error.diagnostics(), [](const Diagnostic& d) {
      return d.code == unsupported_code || d.severity != Severity::error;
    });
    if (!all) throw;
    Outcome outcome;
    outcome.id = case_id(root);
    Difference& d = outcome.difference.emplace();
    d.case_id = outcome.id;
    d.field = field_of(refused->pointer);
    const config::Value value = at_pointer(root, refused->pointer);
    d.expected = value.exists() ? value.json() : "null";
    d.got = "null";
    d.reason = refused->message;
    return outcome;
  }
}

}  // namespace kvsim::conform
