#include "kernels/bench/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace kvsim::kernels::bench {
namespace {

[[noreturn]] void fail(const std::string& path) {
  throw WriteError("cannot write " + (path.empty() ? "to stdout" : path) + ": " +
                   std::strerror(errno));
}

[[noreturn]] void remove_and_fail(const std::string& partial, const std::string& path) {
  const int error = errno;
  if (partial != path) std::remove(partial.c_str());
  errno = error;
  fail(path);
}

void write_whole(const std::string& to, const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(to.c_str(), "wb");
  if (file == nullptr) fail(path);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed) remove_and_fail(to, path);
}

}  // namespace

void write_output(const std::string& path, const std::string& text) {
  if (path.empty()) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
      fail(path);
    return;
  }
  // What is no plain file (/dev/null, a pipe) is written to, never replaced.
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
    write_whole(path, path, text);
    return;
  }
  const std::string beside = path + "." + std::to_string(getpid()) + ".partial";
  write_whole(beside, path, text);
  if (std::rename(beside.c_str(), path.c_str()) != 0) remove_and_fail(beside, path);
}

}  // namespace kvsim::kernels::bench
