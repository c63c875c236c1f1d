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

// The hash of a name. A name made of '#' and 16 hexadecimal digits stands for that number itself,
// so that a content whose name is not known can be written down and read back.
std::uint64_t content_id(std::string_view name);
std::string content_literal(std::uint64_t content);  // "#0123456789abcdef"
// The content of a request's output tokens: content_id(id + "/out").
std::uint64_t output_content(std::string_view request_id);

// Adds `span` to `prompt`; a span that continues the last one is merged into it, so that equal
// prompts have equal lists (the canonical form).
void append_span(std::vector<Span>& prompt, const Span& span);
// Leading tokens that two prompts in canonical form have in common.
std::int64_t common_prefix(const std::vector<Span>& a, const std::vector<Span>& b);

// One request as the cluster sees it; everything random about it is already drawn.
struct RequestSpec {
  std::int64_t index = 0;  // place in the source, from 0; ties in time go by it
  std::string id;
  Time arrival;
  std::vector<Span> prompt;        // not empty; lengths positive; canonical form
  std::int64_t prompt_tokens = 0;  // sum of the spans
  std::int64_t output_tokens = 1;  // stops by itself after this many
  std::int64_t max_tokens = 1;     // or at this limit
  std::int64_t priority = 0;
  std::uint64_t salt = 0;     // 0 = none
  std::uint64_t adapter = 0;  // LoRA adapter, hash of its name; 0 = none
  std::string session;
  std::int64_t after = -1;  // index of the request this one followed; -1 = none
  Duration think;           // pause between that one's end and this arrival
  friend bool operator==(const RequestSpec&, const RequestSpec&) = default;

  // Keeps its cached prefix apart: only requests with equal salt and adapter share. 0 without both.
  std::uint64_t prefix_key() const;
};

}  // namespace kvsim::workload
