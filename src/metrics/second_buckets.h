#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "units/units.h"

namespace kvsim::metrics {

// Output tokens and concurrent requests per bucket of one second, as `vllm bench serve` counts
// them: buckets start at the first request's arrival, and a request is concurrent in every bucket
// from that of its arrival to that of its end, both included. Calls may come in any order of time.
// Memory: 64 KiB per 4096 busy seconds.
class SecondBuckets {
 public:
  SecondBuckets() { chunk(0); }

  void tokens(Duration since_origin, std::int64_t count) {
    Chunk& c = chunk(second(since_origin) / chunk_seconds);
    c.tokens[static_cast<std::size_t>(second(since_origin) % chunk_seconds)] += count;
  }
  void active(Duration from, Duration to) {
    change(second(from), 1);
    change(second(to) + 1, -1);
  }
  std::int64_t max_tokens() const;
  std::int64_t max_active() const;

 private:
  static constexpr std::int64_t chunk_seconds = 4096;
  struct Chunk {
    std::array<std::int64_t, chunk_seconds> tokens{};
    std::array<std::int64_t, chunk_seconds> change{};
  };
  static std::int64_t second(Duration d) { return d.value() / ns_per_second; }
  Chunk& chunk(std::int64_t index) {
    const auto at = static_cast<std::size_t>(index);
    if (at >= chunks_.size()) chunks_.resize(at + 1);
    if (!chunks_[at]) chunks_[at] = std::make_unique<Chunk>();
    return *chunks_[at];
  }
  void change(std::int64_t at, std::int64_t by) {
    chunk(at / chunk_seconds).change[static_cast<std::size_t>(at % chunk_seconds)] += by;
  }

  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace kvsim::metrics
