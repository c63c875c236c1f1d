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

// What is no plain file (/dev/null, a pipe) is written to, never replaced.
bool is_special(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

std::string partial_name(const std::string& path) {
  return path + "." + std::to_string(getpid()) + ".partial";
}

}  // namespace

void expect_writable(const std::string& path) {
  if (path.empty()) return;
  if (is_special(path)) {
    if (access(path.c_str(), W_OK) != 0) fail(path);
    return;
  }
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    fail(path);
  }
  const std::string beside = partial_name(path);
  write_whole(beside, path, "");
  std::remove(beside.c_str());
}

void write_output(const std::string& path, const std::string& text) {
  if (path.empty()) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
      fail(path);
    return;
  }
  if (is_special(path)) {
    write_whole(path, path, text);
    return;
  }
  const std::string beside = partial_name(path);
  write_whole(beside, path, text);
  if (std::rename(beside.c_str(), path.c_str()) != 0) remove_and_fail(beside, path);
}

}  // namespace kvsim::kernels::bench
