#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.h"
#include "config/fields.h"

namespace kvsim::config {

// Where each field's value came from, by JSON pointer: "file:line:col", "--set a.b=c" or "default".
struct Origins {
  struct Entry {
    std::string pointer, origin;
  };
  std::vector<Entry> entries;
};

// The reading visitor. Wrong types, values out of range, unknown keys (with the nearest known one)
// and missing required fields are added to `diagnostics`, each with its position; reading goes on
// with the default. `root` must be an object, else that is the one diagnostic.
std::unique_ptr<FieldVisitor> make_reader(Value root, Diagnostics& diagnostics,
                                          Origins* origins = nullptr);
// Call after visiting: reports the keys that nobody asked for.
void finish(FieldVisitor& reader);

// Reads a whole struct. `schema` is the wanted value of its "schema" key ("" = the struct has
// none).
template <class T>
void read(Value root, T& target, Diagnostics& diagnostics, std::string_view schema = {},
          Origins* origins = nullptr);

// Checks `"schema": "kvsim.<kind>/<n>"`; says what is wrong with another version, kind or none.
void check_schema(Value root, std::string_view wanted, Diagnostics& diagnostics);

template <class T>
void read(Value root, T& target, Diagnostics& diagnostics, std::string_view schema,
          Origins* origins) {
  const auto reader = make_reader(root, diagnostics, origins);
  if (!schema.empty()) {
    check_schema(root, schema, diagnostics);
    std::string ignored;
    reader->field(Field{"schema", "kind and version of this file"}, ignored);
  }
  fields(*reader, target);
  finish(*reader);
}

}  // namespace kvsim::config
