#include "workload/io/bytes.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "diag/diagnostic.h"

namespace kvsim::workload {
namespace {

constexpr std::size_t chunk = 1 << 16;

class FileBytes final : public ByteStream {
 public:
  explicit FileBytes(const std::string& path) : path_(path) {
    std::error_code error;
    if (path == "-") {
      file_ = stdin;
      return;
    }
    if (std::filesystem::is_directory(path, error))
      throw IoError(path, "is a folder (directory), not a file");
    file_ = std::fopen(path.c_str(), "rb");
    if (!file_) throw IoError(path, std::string("cannot be opened: ") + std::strerror(errno));
  }
  ~FileBytes() override {
    if (file_ && file_ != stdin) std::fclose(file_);
  }
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::size_t read(char* buffer, std::size_t size) override {
    const std::size_t got = std::fread(buffer, 1, size, file_);
    if (got == 0 && std::ferror(file_)) throw IoError(path_, "cannot be read");
    return got;
  }

 private:
  std::string path_;
  std::FILE* file_ = nullptr;
};

class TextBytes final : public ByteStream {
 public:
  explicit TextBytes(std::string text) : text_(std::move(text)) {}
  std::size_t read(char* buffer, std::size_t size) override {
    const std::size_t n = std::min(size, text_.size() - at_);
    std::memcpy(buffer, text_.data() + at_, n);
    at_ += n;
    return n;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

// Gives back the bytes that were looked at, then the rest.
class Prefixed final : public ByteStream {
 public:
  Prefixed(std::string head, std::unique_ptr<ByteStream> rest)
      : head_(std::move(head)), rest_(std::move(rest)) {}
  std::size_t read(char* buffer, std::size_t size) override {
    if (at_ == head_.size()) return rest_->read(buffer, size);
    const std::size_t n = std::min(size, head_.size() - at_);
    std::memcpy(buffer, head_.data() + at_, n);
    at_ += n;
    return n;
  }

 private:
  std::string head_;
  std::size_t at_ = 0;
  std::unique_ptr<ByteStream> rest_;
};

[[noreturn]] void damaged(const std::string& name, const char* kind, const char* what) {
  Diagnostic d;
  d.code = "trace-compressed";
  d.file = name;
  d.message = std::string(name) + ": the " + kind + " data " + what;
  throw InputError(std::move(d));
}

class GzipBytes final : public ByteStream {
 public:
  GzipBytes(std::unique_ptr<ByteStream> packed, std::string name)
      : packed_(std::move(packed)), name_(std::move(name)), input_(chunk) {
    if (inflateInit2(&state_, 15 + 16) != Z_OK) throw IoError(name_, "no memory to unpack it");
  }
  ~GzipBytes() override { inflateEnd(&state_); }
  GzipBytes(const GzipBytes&) = delete;
  GzipBytes& operator=(const GzipBytes&) = delete;

  std::size_t read(char* buffer, std::size_t size) override {
    size = std::min<std::size_t>(size, 1U << 30);
    state_.next_out = reinterpret_cast<Bytef*>(buffer);
    state_.avail_out = static_cast<uInt>(size);
    while (state_.avail_out == size) {
      if (state_.avail_in == 0) {
        const std::size_t got = packed_->read(input_.data(), input_.size());
        if (got == 0) {
          if (inside_) damaged(name_, "gzip", "end too early");
          return 0;
        }
        state_.next_in = reinterpret_cast<Bytef*>(input_.data());
        state_.avail_in = static_cast<uInt>(got);
      }
      inside_ = true;
      const int status = inflate(&state_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {  // another member may follow
        inside_ = false;
        inflateReset(&state_);
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        damaged(name_, "gzip", "are damaged");
      }
    }
    return size - state_.avail_out;
  }

 private:
  std::unique_ptr<ByteStream> packed_;
  std::string name_;
  std::vector<char> input_;
  z_stream state_{};
  bool inside_ = false;
};

class ZstdBytes final : public ByteStream {
 public:
  ZstdBytes(std::unique_ptr<ByteStream> packed, std::string name)
      : packed_(std::move(packed)),
        name_(std::move(name)),
        input_(chunk),
        state_(ZSTD_createDStream()) {
    if (!state_) throw IoError(name_, "no memory to unpack it");
  }
  ~ZstdBytes() override { ZSTD_freeDStream(state_); }
  ZstdBytes(const ZstdBytes&) = delete;
  ZstdBytes& operator=(const ZstdBytes&) = delete;

  std::size_t read(char* buffer, std::size_t size) override {
    ZSTD_outBuffer out{buffer, size, 0};
    while (out.pos == 0) {
      if (in_.pos == in_.size) {
        in_ = {input_.data(), packed_->read(input_.data(), input_.size()), 0};
        if (in_.size == 0) {
          if (inside_) damaged(name_, "zstd", "end too early");
          return 0;
        }
      }
      const std::size_t status = ZSTD_decompressStream(state_, &out, &in_);
      if (ZSTD_isError(status)) damaged(name_, "zstd", "are damaged");
      inside_ = status != 0;
    }
    return out.pos;
  }

 private:
  std::unique_ptr<ByteStream> packed_;
  std::string name_;
  std::vector<char> input_;
  ZSTD_DStream* state_;
  ZSTD_inBuffer in_{nullptr, 0, 0};
  bool inside_ = false;
};

std::unique_ptr<ByteStream> unpacked(std::unique_ptr<ByteStream> raw, const std::string& name) {
  std::string head(4, '\0');
  std::size_t have = 0;
  while (have < head.size()) {
    const std::size_t got = raw->read(head.data() + have, head.size() - have);
    if (got == 0) break;
    have += got;
  }
  head.resize(have);
  const std::string_view magic = head;
  auto whole = std::make_unique<Prefixed>(head, std::move(raw));
  if (magic.starts_with("\x1f\x8b")) return std::make_unique<GzipBytes>(std::move(whole), name);
  if (magic.starts_with("\x28\xb5\x2f\xfd"))
    return std::make_unique<ZstdBytes>(std::move(whole), name);
  return whole;
}

}  // namespace

std::unique_ptr<ByteStream> open_bytes(const std::string& path) {
  return unpacked(std::make_unique<FileBytes>(path), path == "-" ? "<stdin>" : path);
}

std::unique_ptr<ByteStream> bytes_of(std::string text, std::string name) {
  return unpacked(std::make_unique<TextBytes>(std::move(text)), name);
}

}  // namespace kvsim::workload
