#pragma once
#include <cstdint>
#include <memory>
#include <optional>

// Contiguous runs of slots, as KV caches had them before paging (Kwon et al., SOSP 2023, section
// 3.1).
namespace kvsim::kv {

// What an allocation holds: [start, start + size). `size` may exceed what was asked for.
struct Extent {
  std::int64_t start = 0;
  std::int64_t size = 0;
};

// Places runs of slots in a pool of `slots()`.
//
// Contract: allocate() answers an extent of at least `n` slots (n >= 1) that overlaps no other, or
// nothing where none has room; which one depends on the calls before alone. release() takes an
// extent that allocate() gave and that was not released since. largest() is what an empty pool can
// give to one caller. Called once per admission and per end of a request.
class ContiguousAllocator {
 public:
  virtual ~ContiguousAllocator() = default;
  virtual std::optional<Extent> allocate(std::int64_t n) = 0;
  virtual void release(const Extent& extent) = 0;
  virtual std::int64_t slots() const = 0;
  virtual std::int64_t held() const = 0;
  virtual std::int64_t largest() const = 0;
  // Free space is whole, merged and apart; throws InternalError.
  virtual void verify() const = 0;
};

// The lowest place with room for exactly `n`; neighbouring holes are one. O(holes).
std::unique_ptr<ContiguousAllocator> make_first_fit(std::int64_t slots);

// The binary buddy system (Knuth, TAOCP 1, 2.5): sizes are powers of two, places multiples of
// their size. The smallest free block that is large enough is taken, the lowest of its size, and
// halved until it is as small as it may be; a released block joins its buddy while that is free. A
// pool whose size is no power of two starts as the blocks of its binary digits, largest first.
// O(log slots) with ordered sets of free places.
std::unique_ptr<ContiguousAllocator> make_buddy(std::int64_t slots);

}  // namespace kvsim::kv
