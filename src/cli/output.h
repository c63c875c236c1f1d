#pragma once
#include <exception>
#include <memory>
#include <string>
#include <string_view>

#include "config/output_file.h"

namespace kvsim::cli {

// The reader of stdout has gone (`kvsim ... | head`): nothing more to say, and no fault of anybody.
class OutputClosed : public std::exception {};

// Where results go: stdout, or the file of -o. Text for stdout is kept until commit(), so that an
// error leaves stdout empty, unless stream() was called; a file appears only at commit().
class Output {
 public:
  // Opens the file at once: an unwritable folder is an IoError before any work.
  explicit Output(const std::string& path);

  void write(std::string_view text);
  // From here on stdout gets the text as it comes (conversions of any length).
  void stream() { streaming_ = true; }
  void commit();
  bool is_stdout() const { return file_ == nullptr; }

 private:
  void flush();
  std::unique_ptr<config::OutputFile> file_;  // null: stdout
  std::string kept_;
  bool streaming_ = false;
};

}  // namespace kvsim::cli
