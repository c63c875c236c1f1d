#include "cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/interrupt.h"
#include "diag/diagnostic.h"

namespace kvsim::cli {

constexpr std::size_t stream_chunk = 1 << 16;

Output::Output(const std::string& path) {
  if (!path.empty() && path != "-") file_ = std::make_unique<config::OutputFile>(path);
}

void Output::write(std::string_view text) {
  if (file_) return file_->write(text);
  kept_ += text;
  if (streaming_ && kept_.size() >= stream_chunk) flush();
}

void Output::flush() {
  std::string_view rest = kept_;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      throw OutputClosed{};
    } else if (errno == EINTR) {
      poll_interrupt();
    } else {
      throw IoError("<stdout>", std::string("cannot be written: ") + std::strerror(errno));
    }
  }
  kept_.clear();
}

void Output::commit() {
  if (file_)
    file_->commit();
  else
    flush();
}

}  // namespace kvsim::cli
