#include <xxhash.h>

#include <fmt/format.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "config/document.h"
#include "config/output_file.h"

namespace kvsim::config {

std::string read_file(const std::string& path) {
  std::error_code error;
  if (path != "-" && std::filesystem::is_directory(path, error))
    throw IoError(path, "is a folder, not a file (directory)");
  std::FILE* file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (!file) throw IoError(path, std::string("cannot be opened: ") + std::strerror(errno));
  std::string text;
  char buffer[1 << 16];
  std::size_t got;
  while ((got = std::fread(buffer, 1, sizeof buffer, file)) > 0) text.append(buffer, got);
  const bool failed = std::ferror(file) != 0;
  if (path != "-") std::fclose(file);
  if (failed) throw IoError(path, "cannot be read");
  return text;
}

void write_file(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

std::string digest(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string json_string(std::string_view text) {
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace kvsim::config
