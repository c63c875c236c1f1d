#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "config/echo.h"
#include "property/witness.h"
#include "report/exporter.h"
#include "report/json.h"
#include "support/simulate.h"

// Nothing in a scenario is decoration: each field moves some output outside the echoed scenario.

using namespace kvsim;
using namespace kvsim::testing;

namespace {

constexpr auto worlds = "tests/property/worlds";

std::string path_of(std::string field) {
  for (auto at = field.find("[]"); at != field.npos; at = field.find("[]"))
    field.replace(at, 2, ".0");
  return field;
}

// What a user gets, without the echo: the document, the text and the page; or why it was refused.
std::string outputs(const Witness& witness, const std::string& value) {
  std::vector<scenario::Override> overrides;
  for (const Setting& setting : witness.before) overrides.push_back({setting.path, setting.value});
  std::string path = path_of(witness.field);
  if (!value.empty() && value[0] == '{') path = path.substr(0, path.rfind('.'));
  if (!value.empty()) overrides.push_back({path, value});
  try {
    metrics::RunResult result = simulate_text(
        world(witness.world), std::string(KVSIM_SOURCE_DIR) + "/" + worlds, overrides);
    result.scenario_json = "{}";
    std::string text = report::to_json(result);
    if (witness.field == "name") text += report::render_text(result, {});
    if (witness.field == "purpose") text += report::render_html(result, {});
    return text;
  } catch (const InputError& error) {
    return "refused: " + error.diagnostics().front().code + ": " +
           error.diagnostics().front().message;
  }
}

bool refused(const std::string& text) { return text.rfind("refused: ", 0) == 0; }

}  // namespace

TEST_CASE("every scenario field has a witness") {
  config::SchemaWriter writer;
  scenario::Scenario scenario;
  scenario::fields(writer.visitor(), scenario);
  std::set<std::string> fields, witnessed;
  for (const config::FieldRow& row : writer.rows())
    if (row.type != "object" && row.type != "list") fields.insert(row.name);
  for (const Witness& witness : witnesses()) {
    CAPTURE(witness.field);
    CHECK(witnessed.insert(witness.field).second);
    CHECK(fields.count(witness.field) == 1);
  }
  for (const std::string& field : fields) {
    CAPTURE(field);
    CHECK(witnessed.count(field) == 1);
  }
}

TEST_CASE("every scenario field moves some output outside the echoed scenario") {
  for (const Witness& witness : witnesses()) {
    CAPTURE(witness.field);
    const std::string one = outputs(witness, witness.value);
    const std::string other = outputs(witness, witness.other);
    if (refused(one)) CAPTURE(one);
    CHECK((!refused(one) || !refused(other)));
    const bool moves = one != other;  // documents are too long for a failure message
    CHECK(moves);
  }
}
