#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "units/units.h"

namespace kvsim::workload {

// `length` tokens of content `content`, from `offset`. Equal content and offset mean equal tokens;
// different contents share nothing. A content is the 64-bit hash of its name (content_id).
struct Span {
  std::uint64_t content = 0;
  std::int64_t offset = 0;
  std::int64_t length = 0;
  friend bool operator==(const Span&, const Span&) = default;
};

std::uint64_t content_id(std::string_view name);
// The content of a request's output tokens: content_id(id + "/out").
std::uint64_t output_content(std::string_view request_id);

// One request as the cluster sees it; everything random about it is already drawn.
struct RequestSpec {
  std::int64_t index = 0;           // place in the source, from 0; ties in time go by it
  std::string id;
  Time arrival;
  std::vector<Span> prompt;         // not empty; lengths positive
  std::int64_t prompt_tokens = 0;   // sum of the spans
  std::int64_t output_tokens = 1;   // stops by itself after this many
  std::int64_t max_tokens = 1;      // or at this limit
  std::int64_t priority = 0;
  std::uint64_t salt = 0;           // 0 = none
  std::string session;
  std::int64_t after = -1;          // index of the request this one followed; -1 = none
  Duration think;                   // pause between that one's end and this arrival
};

}  // namespace kvsim::workload
