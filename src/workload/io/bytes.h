#pragma once
#include <cstddef>
#include <memory>
#include <string>

namespace kvsim::workload {

// Bytes from somewhere, front to back.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Fills up to `size` bytes and answers how many; 0 only at the end. Throws IoError when reading
  // fails and InputError when compressed data is damaged or cut off.
  virtual std::size_t read(char* buffer, std::size_t size) = 0;
};

// A file, or standard input for "-". Data that starts as gzip or zstd do is unpacked on the way, in
// constant memory. Throws IoError: missing, unreadable, a folder.
std::unique_ptr<ByteStream> open_bytes(const std::string& path);

// A text in memory, unpacked likewise.
std::unique_ptr<ByteStream> bytes_of(std::string text, std::string name);

}  // namespace kvsim::workload
