#include "kernels/simt/accounting.h"

#include <algorithm>
#include <bit>
#include <string>

#include "kernels/simt/fault.h"

namespace kvsim::simt {
namespace {

void set_bits(std::vector<std::uint64_t>& bits, std::size_t first, std::size_t count) {
  while (count > 0) {
    const std::size_t offset = first % 64;
    const std::size_t here = std::min<std::size_t>(count, 64 - offset);
    const std::uint64_t ones = here == 64 ? ~0ULL : (1ULL << here) - 1;
    bits[first / 64] |= ones << offset;
    first += here, count -= here;
  }
}

std::uint64_t ones(const std::vector<std::uint64_t>& bits) {
  std::uint64_t sum = 0;
  for (const std::uint64_t word : bits) sum += static_cast<std::uint64_t>(std::popcount(word));
  return sum;
}

}  // namespace

void Accounting::add_buffer(const void* start, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(start);
  const std::size_t words = (bytes + 63) / 64;
  Buffer buffer{
      at, at + bytes, std::vector<std::uint64_t>(words), std::vector<std::uint64_t>(words), {}};
  const auto place = std::ranges::lower_bound(buffers_, at, {}, &Buffer::start);
  buffers_.insert(place, std::move(buffer));
}

void Accounting::remove_buffer(const void* start) {
  const auto at = reinterpret_cast<std::uintptr_t>(start);
  std::erase_if(buffers_, [at](const Buffer& b) { return b.start == at; });
  last_ = 0;
}

void Accounting::clear() {
  for (Buffer& b : buffers_) {
    std::ranges::fill(b.read, 0);
    std::ranges::fill(b.written, 0);
    std::ranges::fill(b.prefetched, 0);
  }
  total_read_ = total_written_ = 0;
}

Accounting::Counts Accounting::counts() const {
  Counts out{.total_read = total_read_, .total_written = total_written_};
  for (const Buffer& b : buffers_) {
    out.unique_read += ones(b.read);
    out.unique_written += ones(b.written);
    out.unique_prefetched += ones(b.prefetched);
  }
  return out;
}

Accounting::Buffer& Accounting::buffer_of(std::uintptr_t start, std::size_t bytes, Access access,
                                          Site site) {
  const auto holds = [=](const Buffer& b) { return start >= b.start && start + bytes <= b.end; };
  if (last_ < buffers_.size() && holds(buffers_[last_])) return buffers_[last_];
  const auto after = std::ranges::upper_bound(buffers_, start, {}, &Buffer::start);
  if (after == buffers_.begin() || !holds(*(after - 1))) {
    std::string report = access == Access::read ? "a load" : "a store";
    report += " of " + std::to_string(bytes) + " bytes at " + site.file + ":" +
              std::to_string(site.line) + " is outside every buffer";
    if (after != buffers_.begin())
      report += ": " + std::to_string(start - (after - 1)->start) +
                " bytes from the start of the nearest one, which has " +
                std::to_string((after - 1)->end - (after - 1)->start);
    fail(report);
  }
  last_ = static_cast<std::size_t>(after - 1 - buffers_.begin());
  return buffers_[last_];
}

void Accounting::touch(const void* address, std::size_t bytes, Access access, Site site) {
  const auto start = reinterpret_cast<std::uintptr_t>(address);
  Buffer& buffer = buffer_of(start, bytes, access, site);
  set_bits(access == Access::read ? buffer.read : buffer.written, start - buffer.start, bytes);
  (access == Access::read ? total_read_ : total_written_) += bytes;
}

void Accounting::prefetch(const void* address, Site site) {
  constexpr std::uintptr_t line = 128;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  Buffer& buffer = buffer_of(at, 1, Access::read, site);
  buffer.prefetched.resize(buffer.read.size());
  const std::uintptr_t first = std::max(at / line * line, buffer.start);
  const std::uintptr_t end = std::min(at / line * line + line, buffer.end);
  set_bits(buffer.prefetched, first - buffer.start, end - first);
}

}  // namespace kvsim::simt
