#include "report/json.h"

#include <fmt/format.h>

#include "config/echo.h"
#include "config/reader.h"
#include "report/json_layout.h"
#include "report/result_fields.h"

namespace kvsim::report {

std::string to_json(const metrics::RunDocument& result) {
  return layout(config::echo_json(result, run_schema));
}

std::string to_json_detailed(const metrics::RunResult& result) {
  return layout(config::echo_json(result, run_schema));
}

metrics::RunResult read_result(const config::Document& document) {
  Diagnostics diagnostics;
  metrics::RunResult result;
  config::read(document.root(), result, diagnostics, run_schema);
  const config::Value scenario =
      document.root().is_object() ? document.root().find("scenario") : config::Value();
  if (scenario.exists() && !scenario.is_object()) {
    diagnostics.add(scenario.diagnostic(
        "wrong-type", fmt::format("scenario: expected an object, found {}", scenario.describe())));
  }
  diagnostics.throw_if_errors();
  const auto text = [&](std::string_view name) {
    const config::Value value = scenario.find(name);
    return value.exists() && value.is_string() ? value.string() : std::string();
  };
  result.name = text("name");
  result.purpose = text("purpose");
  if (const config::Value seed = scenario.find("seed");
      seed.exists() && seed.kind() == config::Kind::integer) {
    result.seed = seed.integer();
  }
  return result;
}

}  // namespace kvsim::report
