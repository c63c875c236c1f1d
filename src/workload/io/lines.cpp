#include "workload/io/lines.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kvsim::workload {
namespace {

constexpr std::size_t first_size = 1 << 18;
constexpr std::size_t longest_line = 64 << 20;

}  // namespace

Lines::Lines(std::unique_ptr<ByteStream> bytes, std::string name)
    : bytes_(std::move(bytes)), name_(std::move(name)), buffer_(first_size, '\0') {
  head();
  if (std::string_view(buffer_).substr(begin_, end_ - begin_).starts_with("\xEF\xBB\xBF"))
    begin_ += 3;
}

// Moves the unread part to the front, makes room where there is none, and reads more.
bool Lines::fill() {
  if (done_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_, begin_ = 0;
  }
  if (end_ == buffer_.size()) {
    if (buffer_.size() >= longest_line) {
      ++number_;
      line_ = {};
      throw InputError(at("trace-line-length", "a line of over 64 MiB"));
    }
    buffer_.resize(buffer_.size() * 2);
  }
  const std::size_t got = bytes_->read(buffer_.data() + end_, buffer_.size() - end_);
  end_ += got;
  done_ = got == 0;
  return !done_;
}

std::string_view Lines::head() {
  while (end_ < buffer_.size() && fill()) {
  }
  return std::string_view(buffer_).substr(begin_, end_ - begin_);
}

bool Lines::next(std::string_view& line) {
  std::size_t seen = 0;
  for (;;) {
    const char* from = buffer_.data() + begin_ + seen;
    const std::size_t left = end_ - begin_ - seen;
    if (const void* stop = std::memchr(from, '\n', left)) {
      const auto length =
          static_cast<std::size_t>(static_cast<const char*>(stop) - buffer_.data()) - begin_;
      line_ = std::string_view(buffer_).substr(begin_, length);
      begin_ += length + 1;
      break;
    }
    seen = end_ - begin_;
    if (fill()) continue;
    if (begin_ == end_) return false;
    line_ = std::string_view(buffer_).substr(begin_, end_ - begin_);
    begin_ = end_;
    break;
  }
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  ++number_;
  line = line_;
  return true;
}

std::size_t Lines::read(char* buffer, std::size_t size) {
  if (begin_ == end_) return done_ ? 0 : bytes_->read(buffer, size);
  const std::size_t n = std::min(size, end_ - begin_);
  std::memcpy(buffer, buffer_.data() + begin_, n);
  begin_ += n;
  return n;
}

Diagnostic Lines::at(std::string code, std::string message, std::string hint, int column,
                     int width) const {
  Diagnostic d;
  d.code = std::move(code), d.message = std::move(message), d.hint = std::move(hint);
  d.file = name_, d.line = number_, d.column = column > 0 ? column : 1, d.width = width;
  d.source_line = std::string(line_);
  for (char& c : d.source_line)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  return d;
}

}  // namespace kvsim::workload
