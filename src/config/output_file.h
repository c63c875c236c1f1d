#pragma once
#include <cstdio>
#include <string>
#include <string_view>

namespace kvsim::config {

// A file that appears whole or not at all: written beside its final place, renamed by commit(),
// removed again when it is destroyed without commit(). A path that is no regular file (/dev/null, a
// pipe) is written directly; a symbolic link's target is replaced, not the link. "-" is stdout.
// Every failure is an IoError that names the path as the user wrote it; an unwritable folder is
// found by the constructor, before any work.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  void commit();

 private:
  [[noreturn]] void fail(int error);
  std::string path_;       // as given
  std::string target_;     // where it ends up
  std::string temporary_;  // "" = written directly
  std::FILE* file_ = nullptr;
};

}  // namespace kvsim::config
