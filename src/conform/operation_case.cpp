#include <fmt/format.h>

#include <algorithm>

#include "conform/case.h"
#include "conform/operations.h"
#include "diag/suggest.h"

namespace kvsim::conform {
namespace {

using config::Value;

Value settings_of(Value root, const OperationFamily& family) {
  return family.settings.empty() ? root : root.find(family.settings);
}

const OperationFamily& family_of(Value root, const std::string& profile) {
  std::string markers;
  for (const OperationFamily& family : operation_families()) {
    if (family.profile != profile) continue;
    const Value settings = settings_of(root, family);
    if (settings.exists() && settings.is_object() && settings.find(family.marker).exists())
      return family;
    markers += fmt::format("{}{} ({})", markers.empty() ? "" : ", ", family.marker, family.name);
  }
  Arguments(root).unsupported(
      "profile",
      markers.empty()
          ? fmt::format("no operations of profile {} are modelled", config::json_string(profile))
          : fmt::format("the settings name none of {}: which operations these are "
                        "cannot be known",
                        markers));
}

template <class Names>
void check_word(Value at, std::string_view kind, std::string_view word, const Names& names) {
  if (std::ranges::find(names, word) != std::end(names)) return;
  const std::vector<std::string> list(names.begin(), names.end());
  throw InputError(at.diagnostic("unknown-word",
                                 fmt::format("unknown {} {}", kind, config::json_string(word)),
                                 suggestion(word, list)));
}

// The first recorded field that was observed otherwise.
std::optional<Difference> compare(Value expect, const Answers& got) {
  for (std::size_t i = 0; i < expect.size(); ++i) {
    const Answer& answer = got[expect.key(i)];
    if (answer.matches(expect.at(i))) continue;
    Difference d;
    d.field = expect.key(i);
    d.expected = expect.at(i).json();
    d.got = answer.json();
    return d;
  }
  return std::nullopt;
}

}  // namespace

Outcome replay_operations(Value root) {
  Arguments about(root, {"source"});
  Outcome outcome;
  outcome.id = about.text("id");
  const OperationFamily& family = family_of(root, about.text("profile"));
  const Value operations = about.list("ops");

  Arguments settings(settings_of(root, family), {});
  if (family.settings.empty())
    for (const std::string_view known : {"id", "source", "profile", "ops"}) settings.raw(known);
  const std::unique_ptr<Operations> replayed = family.make(settings);
  settings.finish();
  if (!family.settings.empty()) {
    about.raw(family.settings);
    about.finish();
  }

  Answers got;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    Arguments op(operations.at(i), {"op", "expect"});
    const std::string name = op.text("op");
    check_word(operations.at(i).find("op"), "operation", name, family.operations);
    const Value expect = op.object("expect");
    for (std::size_t f = 0; f < expect.size(); ++f)
      check_word(expect.at(f), "field", expect.key(f), family.fields);
    // What is malformed further on is found whatever happens here.
    got.clear();
    if (outcome.difference) continue;
    replayed->apply(name, op, got);
    op.finish();
    outcome.difference = compare(expect, got);
    if (!outcome.difference) continue;
    outcome.difference->case_id = outcome.id;
    outcome.difference->at = static_cast<std::int64_t>(i) + 1;
  }
  return outcome;
}

}  // namespace kvsim::conform
