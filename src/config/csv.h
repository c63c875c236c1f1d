#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostic.h"

namespace kvsim::config {

// Fills `buffer` with up to `size` bytes and says how many; 0 is the end.
using ByteSource = std::function<std::size_t(char* buffer, std::size_t size)>;

// The records of a CSV text (RFC 4180, through libcsv), one at a time in bounded memory.
//
// The first record is the header. Every further one must have as many cells. A byte order mark,
// CRLF and blank lines are accepted; blanks around unquoted cells are dropped. Malformed quotes, a
// bare carriage return, a repeated or empty column name, text that is not UTF-8 and records over 1
// MiB are InputErrors with file:line:col.
class CsvReader {
 public:
  CsvReader(ByteSource source, std::string name);
  // Reads the whole file first. Throws IoError.
  static CsvReader open(const std::string& path);
  static CsvReader from_text(std::string text, std::string name);

  const std::string& name() const { return name_; }
  const std::vector<std::string>& header() const { return header_; }
  // Place of a column in the header.
  std::optional<std::size_t> column(std::string_view name) const;
  // The same for a column that must be there: InputError with the nearest name.
  std::size_t required_column(std::string_view name) const;

  // Goes to the next record; false at the end.
  bool next();
  int line() const { return line_; }  // of the current record's first character, from 1
  const std::vector<std::string>& cells() const { return cells_; }
  const std::string& cell(std::size_t column) const { return cells_[column]; }

  // The cell as a finite number or a whole number; anything else throws InputError. An empty cell
  // is nullopt where that is allowed.
  double number(std::size_t column) const;
  std::int64_t integer(std::size_t column) const;
  std::optional<double> optional_number(std::size_t column) const;
  std::optional<std::int64_t> optional_integer(std::size_t column) const;

  // A diagnostic that points at a cell of the current record (or of the header before next()).
  Diagnostic at(std::size_t column, std::string code, std::string message,
                std::string hint = {}) const;

 private:
  bool read_record();
  void split();
  [[noreturn]] void fail(std::size_t offset, std::string code, std::string message) const;
  Diagnostic locate(std::size_t offset, std::size_t width) const;

  ByteSource source_;
  std::string name_;
  std::string buffer_;    // bytes read and not yet handed out
  std::size_t used_ = 0;  // of buffer_, already handed out
  bool ended_ = false;
  std::string record_;  // the current record as written, without its line end
  int line_ = 0, next_line_ = 1;
  std::vector<std::string> header_, cells_;
};

}  // namespace kvsim::config
