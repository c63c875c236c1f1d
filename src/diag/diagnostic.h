#pragma once
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvsim {

enum class Severity { note, warning, error };

// One thing to tell the user about an input.
//
// `code` is stable and short ("scenario-unknown-key"): `kvsim explain CODE` expands it, scripts may
// test it. `file` with 1-based `line` and `column` (0 = unknown), and the JSON pointer of the value
// inside the document, say where; `hint` says what to write instead.
struct Diagnostic {
  Severity severity = Severity::error;
  std::string code = {};
  std::string message = {};
  std::string file = {};
  int line = 0;
  int column = 0;
  std::string pointer = {};
  std::string hint = {};
  std::string source_line = {};  // text of that line, for the caret; may be empty
  int width = 1;                 // characters to underline
};

// Input that cannot be used. Readers collect every problem first and throw once; only cli/ catches.
class InputError : public std::exception {
 public:
  explicit InputError(Diagnostic diagnostic);
  explicit InputError(std::vector<Diagnostic> diagnostics);

  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::string what_;
};

// A file that could not be opened, read or written (exit code 4). `path` as the user wrote it.
class IoError : public std::exception {
 public:
  IoError(std::string path, std::string reason);
  const std::string& path() const { return path_; }
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string path_;
  std::string what_;
};

// Collects diagnostics while a reader goes on. Keeps the first 1,000 and counts the others, so that
// a file of a million bad values costs no gigabytes.
class Diagnostics {
 public:
  static constexpr std::size_t kept = 1000;

  void add(Diagnostic diagnostic);
  void error(std::string code, std::string message, std::string hint = {});
  void warning(std::string code, std::string message, std::string hint = {});
  bool has_errors() const;
  std::size_t size() const { return list_.size() + dropped_; }
  const std::vector<Diagnostic>& list() const { return list_; }
  // Throws InputError with everything collected if one of it is an error.
  void throw_if_errors() const;

 private:
  std::vector<Diagnostic> list_;
  std::size_t dropped_ = 0;
  bool dropped_error_ = false;
};

// "error: message\n  --> file:line:col   /pointer\n   |  14 | text\n ..." without colour, ends in
// \n.
std::string to_text(const Diagnostic& diagnostic);

}  // namespace kvsim
