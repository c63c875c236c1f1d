#include "workload/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "random/stream.h"

namespace kvsim::workload {

std::uint64_t content_id(std::string_view name) {
  if (name.size() == 17 && name[0] == '#') {
    std::uint64_t literal = 0;
    const auto [end, error] = std::from_chars(name.data() + 1, name.data() + 17, literal, 16);
    if (error == std::errc() && end == name.data() + 17) return literal;
  }
  return random::hash_name(name);
}

std::string content_literal(std::uint64_t content) { return fmt::format("#{:016x}", content); }

std::uint64_t output_content(std::string_view request_id) {
  std::string name(request_id);
  name += "/out";
  return content_id(name);
}

std::uint64_t RequestSpec::prefix_key() const {
  return adapter == 0 ? salt : random::mix(random::mix(adapter, 1), salt);
}

void append_span(std::vector<Span>& prompt, const Span& span) {
  if (!prompt.empty()) {
    Span& last = prompt.back();
    if (last.content == span.content && last.offset + last.length == span.offset) {
      last.length += span.length;
      return;
    }
  }
  prompt.push_back(span);
}

std::int64_t common_prefix(const std::vector<Span>& a, const std::vector<Span>& b) {
  std::int64_t shared = 0;
  const std::size_t spans = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < spans; ++i) {
    if (a[i].content != b[i].content || a[i].offset != b[i].offset) break;
    shared += std::min(a[i].length, b[i].length);
    if (a[i].length != b[i].length) break;
  }
  return shared;
}

}  // namespace kvsim::workload
