#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"
#include "config/document.h"
#include "config/reader.h"

namespace kvsim::cli {

// A file that `check` accepted.
struct CheckedFile {
  std::string kind;         // "kvsim.model/1", "mooncake trace of 1,000 requests", ...
  std::string name;         // its id or name; may be empty
  std::string resolved;     // every value as JSON; "" for kinds without one
  config::Origins origins;  // empty where the kind has none: an import
};

// Reads a document with that "schema" as its user would and throws InputError with all that is
// wrong.
struct FileKind {
  std::string_view schema;
  CheckedFile (*check)(config::Document& document, const std::string& path, const Context& context);
};

std::span<const FileKind> file_kinds();

// By content: a .json file (and standard input) by its "schema" or as a Hugging Face configuration,
// anything else as a request list or trace. What is of no kind is an InputError that says which
// kinds there are.
CheckedFile check_file(const std::string& path, const Context& context);

}  // namespace kvsim::cli
