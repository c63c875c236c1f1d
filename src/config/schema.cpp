#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "config/echo.h"

namespace kvsim::config {
namespace {

using Json = nlohmann::ordered_json;

// Visits a default-constructed struct: the values it sees are the defaults.
class SchemaVisitor final : public FieldVisitor {
 public:
  Json root = object_schema();
  std::vector<FieldRow> rows;

  using FieldVisitor::field;
  void field(const Field& f, bool& x) override {
    scalar(f, {{"type", "boolean"}}, "boolean", x ? "true" : "false");
  }
  void field(const Field& f, std::int64_t& x, Range r) override {
    scalar(f, ranged("integer", r), "integer", std::to_string(x));
  }
  void field(const Field& f, double& x, Range r) override {
    scalar(f, ranged("number", r), "number", fmt::format("{}", x));
  }
  void field(const Field& f, std::string& x) override {
    scalar(f, {{"type", "string"}}, "string", x);
  }
  void field(const Field& f, Bytes& x, Range) override {
    quantity(f, "size", std::to_string(x.value()));
  }
  void field(const Field& f, Duration& x, Range) override {
    quantity(f, "time", fmt::format("{} s", to_seconds(x)));
  }
  void field(const Field& f, Bandwidth& x, Range) override {
    quantity(f, "bandwidth", fmt::format("{:.0f}", x.value()));
  }
  void field(const Field& f, RawValue& x) override {
    // A part that may be null from the start is no reference: anything may stand there.
    if (x.json == "null") return scalar(f, Json::object(), "any value", "");
    scalar(f, {{"type", Json::array({"string", "object"})}}, "id, path or object", "");
  }
  void field(const Field& f, std::vector<std::int64_t>&, Range r) override {
    array(f, ranged("integer", r), "list of integers");
  }
  void field(const Field& f, std::vector<double>&, Range r) override {
    array(f, ranged("number", r), "list of numbers");
  }
  void field(const Field& f, std::vector<std::string>&) override {
    array(f, {{"type", "string"}}, "list of strings");
  }
  void word(const Field& f, int& index, std::span<const std::string_view> words) override {
    Json list = Json::array();
    for (const auto w : words) list.push_back(std::string(w));
    scalar(f, {{"enum", list}}, fmt::format("one of {}", fmt::join(words, ", ")),
           std::string(words[static_cast<std::size_t>(index)]));
  }

 protected:
  bool begin_optional(const Field&, bool) override {
    optional_ = true;
    return true;
  }
  void end_optional() override { optional_ = false; }
  bool begin_object(const Field& f) override {
    put(f, object_schema(), "object", "");
    enter(f, property(f));
    return true;
  }
  void end_object() override { leave(); }
  std::size_t begin_list(const Field& f, std::size_t) override {
    put(f, {{"type", "array"}, {"items", object_schema()}}, "list", "");
    enter(FieldRow{std::string(f.name) + "[]", "", "", ""}, property(f)["items"]);
    return 1;
  }
  bool begin_item(std::size_t) override { return true; }
  void end_item() override {}
  void end_list() override { leave(); }

 private:
  static Json object_schema() {
    return {{"type", "object"},
            {"additionalProperties", false},
            {"required", Json::array()},
            {"properties", Json::object()}};
  }
  static Json ranged(const char* type, const Range& r) {
    Json schema{{"type", type}};
    if (std::isfinite(r.low)) schema[r.open_low ? "exclusiveMinimum" : "minimum"] = r.low;
    if (std::isfinite(r.high)) schema["maximum"] = r.high;
    return schema;
  }
  void scalar(const Field& f, Json schema, std::string type, std::string fallback) {
    put(f, std::move(schema), std::move(type), std::move(fallback));
  }
  void quantity(const Field& f, const char* type, std::string fallback) {
    put(f, {{"type", Json::array({"string", "number"})}}, type, std::move(fallback));
  }
  void array(const Field& f, Json item, std::string type) {
    put(f, {{"type", "array"}, {"items", std::move(item)}}, std::move(type), "");
  }

  void put(const Field& f, Json schema, std::string type, std::string fallback) {
    const bool optional = std::exchange(optional_, false);
    if (optional && schema.contains("type")) {
      Json types = schema["type"].is_array() ? schema["type"] : Json::array({schema["type"]});
      types.push_back("null");
      schema["type"] = types;
    } else if (optional && schema.contains("enum")) {
      schema["enum"].push_back(nullptr);
    }
    schema["description"] = std::string(f.doc);
    Json& scope = *stack_.back().schema;
    scope["properties"][std::string(f.name)] = schema;
    std::string_view rest = f.aliases;
    while (!rest.empty()) {
      const auto comma = rest.find(',');
      scope["properties"][std::string(rest.substr(0, comma))] = schema;
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    }
    if (f.required) scope["required"].push_back(std::string(f.name));
    rows.push_back({stack_.back().prefix + std::string(f.name), std::move(type),
                    f.required ? "required"
                    : optional ? "unset"
                               : std::move(fallback),
                    std::string(f.doc)});
  }
  Json& property(const Field& f) {
    return (*stack_.back().schema)["properties"][std::string(f.name)];
  }
  struct Scope {
    Json* schema;
    std::string prefix;
  };
  void enter(const Field& f, Json& schema) {
    stack_.push_back({&schema, stack_.back().prefix + std::string(f.name) + "."});
  }
  void enter(const FieldRow& row, Json& schema) {
    stack_.push_back({&schema, stack_.back().prefix + row.name + "."});
  }
  void leave() { stack_.pop_back(); }

  bool optional_ = false;
  std::vector<Scope> stack_{{&root, ""}};
};

}  // namespace

struct SchemaWriter::Impl {
  SchemaVisitor visitor;
};
SchemaWriter::SchemaWriter() : impl_(std::make_unique<Impl>()) {}
SchemaWriter::~SchemaWriter() = default;
FieldVisitor& SchemaWriter::visitor() { return impl_->visitor; }

std::string SchemaWriter::json_schema(std::string_view title, std::string_view schema_id) const {
  Json out{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", std::string(title)}};
  Json body = impl_->visitor.root;
  if (!schema_id.empty()) {
    body["properties"]["schema"] = {{"const", std::string(schema_id)}};
    body["required"].insert(body["required"].begin(), "schema");
  }
  out.update(body);
  return out.dump(2) + "\n";
}

const std::vector<FieldRow>& SchemaWriter::rows() const { return impl_->visitor.rows; }

std::string SchemaWriter::markdown() const {
  std::string out = "| field | type | default | meaning |\n|---|---|---|---|\n";
  for (const FieldRow& row : impl_->visitor.rows)
    out += fmt::format("| `{}` | {} | {} | {} |\n", row.name, row.type,
                       row.fallback.empty() ? "" : "`" + row.fallback + "`", row.doc);
  return out;
}

}  // namespace kvsim::config
