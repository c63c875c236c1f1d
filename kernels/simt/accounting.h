#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/simt/lane.h"

namespace kvsim::simt {

// Counts the bytes that kernels read and write in registered buffers, each byte once (unique) and
// each access (total), and refuses addresses outside every buffer. Prefetches are counted apart:
// they move bytes and change nothing. One byte of a buffer costs two bits, three once it is
// prefetched. For one worker thread.
class Accounting {
 public:
  void add_buffer(const void* start, std::size_t bytes);
  void remove_buffer(const void* start);
  void clear();  // forgets all accesses, keeps the buffers

  void read(const void* address, std::size_t bytes, Site site) {
    touch(address, bytes, Access::read, site);
  }
  void write(const void* address, std::size_t bytes, Site site) {
    touch(address, bytes, Access::write, site);
  }

  // The part of the line that lies in the buffer of `address`.
  void prefetch(const void* address, Site site);

  struct Counts {
    std::uint64_t unique_read = 0, unique_written = 0, total_read = 0, total_written = 0;
    std::uint64_t unique_prefetched = 0;
  };
  Counts counts() const;

 private:
  enum class Access { read, write };
  struct Buffer {
    std::uintptr_t start, end;
    std::vector<std::uint64_t> read, written;  // a bit per byte
    std::vector<std::uint64_t> prefetched;     // empty until the first
  };

  void touch(const void* address, std::size_t bytes, Access access, Site site);
  Buffer& buffer_of(std::uintptr_t start, std::size_t bytes, Access access, Site site);

  std::vector<Buffer> buffers_;  // by start
  std::size_t last_ = 0;         // where the previous access was
  std::uint64_t total_read_ = 0, total_written_ = 0;
};

}  // namespace kvsim::simt
