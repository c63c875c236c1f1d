#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "diag/diagnostic.h"
#include "workload/io/bytes.h"

namespace kvsim::workload {

// A text line by line, in memory of the longest line (at most 64 MiB, else InputError). A final
// '\r' and a byte order mark are taken off; the last line may lack its newline.
class Lines {
 public:
  Lines(std::unique_ptr<ByteStream> bytes, std::string name);

  // The next line, valid until the next call; false at the end.
  bool next(std::string_view& line);
  int number() const { return number_; }  // of the line last given, from 1
  const std::string& name() const { return name_; }
  // The start of the text (256 KiB of it, if there is as much) before anything was taken: what
  // formats are recognised by.
  std::string_view head();

  // What is left, as it stands: for readers that do not go by lines. 0 bytes at the end.
  std::size_t read(char* buffer, std::size_t size);

  // A diagnostic at a place of the line last given; `column` from 1, 0 = the whole line.
  Diagnostic at(std::string code, std::string message, std::string hint = {}, int column = 0,
                int width = 1) const;

 private:
  bool fill();
  std::unique_ptr<ByteStream> bytes_;
  std::string name_;
  std::string buffer_;
  std::size_t begin_ = 0, end_ = 0;  // unread part of buffer_
  std::string_view line_;
  int number_ = 0;
  bool done_ = false;
};

}  // namespace kvsim::workload
