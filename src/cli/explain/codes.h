#pragma once
#include <span>

namespace kvsim::cli {

// What `kvsim explain CODE` says. Every code that a Diagnostic carries has a row; a test reads the
// sources for codes and compares.
struct CodeText {
  const char* code;
  const char* meaning;  // one line without a full stop
  const char* remedy;   // what to do; may be empty
};

std::span<const CodeText> code_texts();

}  // namespace kvsim::cli
