#include "config/echo.h"
#include "report/conformance.h"
#include "report/json_layout.h"

namespace kvsim::conform {

static void fields(config::FieldVisitor& v, FamilyResult& f) {
  v.field({"name", "the file's name without .gz, .zst and .jsonl", {}, true}, f.name);
  v.field({"cases", "recorded cases in it", {}, true}, f.cases);
  v.field({"matched", "cases in which everything recorded is as kvsim does it", {}, true},
          f.matched);
  v.field({"refused", "among the others, cases that ask for what kvsim does not model", {}, true},
          f.refused);
}

}  // namespace kvsim::conform

namespace kvsim::report {
namespace {

using config::Field;

Field must(std::string_view name, std::string_view doc) { return {name, doc, {}, true}; }

}  // namespace

static void fields(config::FieldVisitor& v, FirstDifference& d) {
  v.field(must("family", "family of the case"), d.family);
  v.field(must("case", "id of the case"), d.case_id);
  v.field(must("at", "number of the step or operation, from 1; 0 = the case was refused"), d.at);
  v.field(must("field", "name of the field there; of a refused case the setting"), d.field);
  v.field(must("expected", "what was recorded"), d.expected);
  v.field(must("got", "what kvsim did; null where it observes nothing of that name"), d.got);
  v.field({"reason", "why the case was refused; null where it was replayed"}, d.reason);
}

void fields(config::FieldVisitor& v, ConformanceDocument& d) {
  v.field(must("complete", "false when the command was interrupted"), d.complete);
  v.field(must("cases", "recorded cases in all files"), d.cases);
  v.field(must("matched", "cases in which everything recorded is as kvsim does it"), d.matched);
  v.list(must("families", "one per file name, in the order of the files"), d.families);
  v.object({"first_difference", "of the first case that differs; null where none does"},
           d.first_difference);
}

std::string conformance_json(const conform::Conformance& conformance) {
  ConformanceDocument document;
  document.complete = conformance.complete;
  document.cases = conformance.cases();
  document.matched = conformance.matched();
  document.families = conformance.families;
  if (!conformance.differences.empty()) {
    const conform::Difference& d = conformance.differences.front();
    auto& first = document.first_difference.emplace();
    first.family = d.family, first.case_id = d.case_id, first.at = d.at, first.field = d.field;
    first.expected.json = d.expected, first.got.json = d.got;
    if (!d.reason.empty()) first.reason = d.reason;
  }
  return layout(config::echo_json(document, conformance_schema));
}

}  // namespace kvsim::report
