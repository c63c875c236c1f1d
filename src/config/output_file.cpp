#include "config/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "diag/diagnostic.h"

namespace kvsim::config {
namespace fs = std::filesystem;

OutputFile::OutputFile(std::string path) : path_(std::move(path)), target_(path_) {
  if (path_ == "-") {
    file_ = stdout;
    return;
  }
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (fs::is_directory(status))
    throw IoError(path_, "cannot be written: it is a folder (directory)");
  const fs::path folder = fs::path(path_).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, error))
    throw IoError(path_, fmt::format("cannot be written: there is no folder {}", folder.string()));
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    file_ = std::fopen(path_.c_str(), "wb");
  } else {
    if (fs::exists(status)) target_ = fs::canonical(path_, error).string();
    if (target_.empty()) target_ = path_;
    temporary_ = fmt::format("{}.tmp-{}", target_, ::getpid());
    file_ = std::fopen(temporary_.c_str(), "wbx");
  }
  if (!file_) {
    const int reason = errno;
    temporary_.clear();
    fail(reason);
  }
}

OutputFile::~OutputFile() {
  if (file_ && file_ != stdout) std::fclose(file_);
  if (!temporary_.empty()) std::remove(temporary_.c_str());
}

void OutputFile::fail(int error) {
  throw IoError(path_ == "-" ? "<stdout>" : path_,
                fmt::format("cannot be written: {}", std::strerror(error)));
}

void OutputFile::write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) fail(errno);
}

void OutputFile::commit() {
  std::FILE* file = std::exchange(file_, nullptr);
  if ((file == stdout ? std::fflush(file) : std::fclose(file)) != 0) fail(errno);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

}  // namespace kvsim::config
