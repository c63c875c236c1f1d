#pragma once
#include <string>
#include <vector>

// Where a JSON document departs from a JSON Schema, both as text, one line each with its pointer.
// Knows the keywords that docs/schema/ uses, and complains of a schema with others.
std::vector<std::string> schema_violations(const std::string& schema, const std::string& document);
