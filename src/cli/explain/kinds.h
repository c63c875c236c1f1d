#pragma once
#include <span>
#include <string_view>

#include "config/echo.h"

namespace kvsim::cli {

// A kind of document with a described struct: the source of its schema, its reference page and its
// fields in `explain`.
struct DocumentKind {
  std::string_view word;    // "model"; names docs/reference/<word>.md and docs/schema/<word>.json
  std::string_view title;   // "Model files"
  std::string_view schema;  // "kvsim.model/1"
  std::string_view about;   // what the file is for
  void (*describe)(config::FieldVisitor& visitor);
  bool fields_are_topics = true;  // false: other topics explain them better
};

std::span<const DocumentKind> document_kinds();

}  // namespace kvsim::cli
