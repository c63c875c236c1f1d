#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "config/fields.h"

// Contiguous reservation, as engines did before paging: FasterTransformer's request-level batching
// and Orca's iteration-level batching with its three ways to reserve (Kwon et al., SOSP 2023,
// section 6.1).
namespace kvsim::engine {

enum class Batching { request, iteration };
inline constexpr std::array<std::string_view, 2> batching_names{"request", "iteration"};

enum class Reservation { max, pow2, oracle };
inline constexpr std::array<std::string_view, 3> reservation_names{"max", "pow2", "oracle"};

enum class Allocator { exact, buddy };
inline constexpr std::array<std::string_view, 2> allocator_names{"exact", "buddy"};

struct StaticOptions {
  Batching batching = Batching::iteration;
  Reservation reservation = Reservation::max;
  Allocator allocator = Allocator::exact;
};

void fields(config::FieldVisitor& v, StaticOptions& o);

}  // namespace kvsim::engine
