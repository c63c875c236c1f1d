#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"

// The visitors that look at a struct instead of reading it.
namespace kvsim::config {

// The struct as JSON, every field present: what a result echoes. Quantities are plain numbers in
// base units; an absent optional is null; object keys are in field order.
class Echo {
 public:
  Echo();
  ~Echo();
  FieldVisitor& visitor();
  std::string json() const;  // two-space indentation

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

template <class T>
std::string echo_json(const T& value, std::string_view schema = {}) {
  Echo echo;
  std::string text(schema);
  if (!schema.empty()) echo.visitor().field(Field{"schema", ""}, text);
  T copy = value;
  fields(echo.visitor(), copy);
  return echo.json();
}

// One field as the reference pages show it; `name` is dotted, with [] for the items of lists.
struct FieldRow {
  std::string name, type, fallback, doc;  // fallback: the default, "required" or "unset"
};

// JSON Schema (draft-07) of a struct, and its fields as a Markdown table
// (field, type, default, meaning), nested structs flattened with dotted names.
class SchemaWriter {
 public:
  SchemaWriter();
  ~SchemaWriter();
  FieldVisitor& visitor();
  std::string json_schema(std::string_view title, std::string_view schema_id) const;
  std::string markdown() const;
  const std::vector<FieldRow>& rows() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kvsim::config
