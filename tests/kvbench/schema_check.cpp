#include "kvbench/schema_check.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace {

using nlohmann::json;

bool is_of_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "integer") return value.is_number_integer();
  return type == "number" && value.is_number();
}

class Checker {
 public:
  std::vector<std::string> violations;

  void check(const json& schema, const json& value, const std::string& at) {
    for (const auto& [keyword, _] : schema.items())
      if (!known.contains(keyword)) complain(at, "unknown keyword " + keyword);
    if (schema.contains("const") && value != schema["const"]) complain(at, "not the constant");
    if (schema.contains("enum") && std::ranges::count(schema["enum"], value) == 0)
      complain(at, value.dump() + " is none of the words");
    if (schema.contains("type") && !has_type(schema["type"], value)) {
      complain(at, value.dump() + " is not of type " + schema["type"].dump());
      return;
    }
    if (value.is_number()) check_range(schema, value, at);
    if (value.is_object()) check_object(schema, value, at);
    if (value.is_array() && schema.contains("items"))
      for (std::size_t i = 0; i < value.size(); ++i)
        check(schema["items"], value[i], at + "/" + std::to_string(i));
  }

 private:
  void complain(const std::string& at, const std::string& what) {
    violations.push_back(at + ": " + what);
  }

  static bool has_type(const json& types, const json& value) {
    if (types.is_string()) return is_of_type(value, types);
    return std::ranges::any_of(types, [&](const json& t) { return is_of_type(value, t); });
  }

  void check_range(const json& schema, const json& value, const std::string& at) {
    if (schema.contains("minimum") && value.get<double>() < schema["minimum"].get<double>())
      complain(at, value.dump() + " is below the minimum");
    if (schema.contains("exclusiveMinimum") &&
        value.get<double>() <= schema["exclusiveMinimum"].get<double>())
      complain(at, value.dump() + " is not above the minimum");
  }

  void check_object(const json& schema, const json& value, const std::string& at) {
    for (const json& name : schema.value("required", json::array()))
      if (!value.contains(name)) complain(at, "lacks " + name.dump());
    const json properties = schema.value("properties", json::object());
    const json rest = schema.value("additionalProperties", json(true));
    for (const auto& [name, member] : value.items()) {
      const std::string place = at + "/" + name;
      if (properties.contains(name))
        check(properties[name], member, place);
      else if (rest.is_object())
        check(rest, member, place);
      else if (rest == false)
        complain(place, "is no property");
    }
  }

  const std::set<std::string> known{
      "$schema",  "title", "description",      "type",
      "const",    "enum",  "minimum",          "properties",
      "required", "items", "exclusiveMinimum", "additionalProperties"};
};

}  // namespace

std::vector<std::string> schema_violations(const std::string& schema, const std::string& document) {
  Checker checker;
  checker.check(json::parse(schema), json::parse(document), "");
  return checker.violations;
}
