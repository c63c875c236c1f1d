#include <charconv>

#include "workload/trace/kvsim_line.h"

namespace kvsim::workload {
namespace {

// Walks over a line. Every function answers false for whatever is not plainly right.
class Scanner {
 public:
  explicit Scanner(std::string_view text)
      : at_(text.data()), begin_(at_), end_(at_ + text.size()) {}

  void blanks() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
  }
  bool take(char c) {
    blanks();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool at_end() {
    blanks();
    return at_ == end_;
  }
  int column() {
    blanks();
    return static_cast<int>(at_ - begin_) + 1;
  }
  // Printable ASCII without escapes.
  bool string(std::string_view& text) {
    if (!take('"')) return false;
    const char* from = at_;
    while (at_ < end_ && *at_ != '"') {
      const auto c = static_cast<unsigned char>(*at_);
      if (c < 0x20 || c > 0x7e || c == '\\') return false;
      ++at_;
    }
    if (at_ == end_) return false;
    text = std::string_view(from, static_cast<std::size_t>(at_ - from));
    ++at_;
    return true;
  }
  bool name(std::string_view& text) { return string(text) && !text.empty(); }
  bool integer(std::int64_t low, std::int64_t high, std::int64_t& value) {
    blanks();
    const char* from = at_;
    if (at_ < end_ && *at_ == '-') ++at_;
    if (!digits_without_leading_zero()) return false;
    if (at_ < end_ && (*at_ == '.' || *at_ == 'e' || *at_ == 'E')) return false;
    const auto [stop, error] = std::from_chars(from, at_, value);
    return error == std::errc() && stop == at_ && value >= low && value <= high;
  }
  bool seconds(Duration& value) {
    blanks();
    const char* from = at_;
    if (!digits_without_leading_zero()) return false;
    if (at_ < end_ && *at_ == '.') {
      ++at_;
      if (!digits()) return false;
    }
    if (at_ < end_ && (*at_ == 'e' || *at_ == 'E')) {
      ++at_;
      if (at_ < end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      if (!digits()) return false;
    }
    double number = 0;
    const auto [stop, error] = std::from_chars(from, at_, number);
    if (error != std::errc() || stop != at_ || number > max_trace_seconds) return false;
    value = to_duration(number);
    return true;
  }

 private:
  bool digits() {
    const char* from = at_;
    while (at_ < end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    return at_ > from;
  }
  bool digits_without_leading_zero() {
    const char* from = at_;
    return digits() && (*from != '0' || at_ == from + 1);
  }

  const char* at_;
  const char* begin_;
  const char* end_;
};

bool scan_prompt(Scanner& in, KvsimLine& line) {
  if (!in.take('[')) return false;
  do {
    std::string_view content;
    Span span;
    if (!in.take('[') || !in.name(content) || !in.take(',') ||
        !in.integer(1, max_request_tokens, span.length))
      return false;
    if (in.take(',') && !in.integer(0, max_request_tokens, span.offset)) return false;
    if (!in.take(']')) return false;
    span.content = content_id(content);
    line.prompt_tokens += span.length;
    if (line.prompt_tokens > max_request_tokens) return false;
    append_span(line.prompt, span);
  } while (in.take(','));
  return in.take(']');
}

enum Key : unsigned {
  id,
  arrival_s,
  prompt,
  output_tokens,
  max_tokens,
  priority,
  salt,
  adapter,
  session,
  after,
  think_s,
  none
};

Key key_of(std::string_view key) {
  constexpr std::string_view names[] = {"id",         "arrival_s", "prompt", "output_tokens",
                                        "max_tokens", "priority",  "salt",   "adapter",
                                        "session",    "after",     "think_s"};
  for (unsigned k = 0; k < none; ++k)
    if (names[k] == key) return static_cast<Key>(k);
  return none;
}

bool scan_value(Scanner& in, Key key, KvsimLine& line) {
  const int column = in.column();
  switch (key) {
    case id:
      line.id_column = column;
      return in.name(line.id);
    case arrival_s: {
      Duration arrival;
      line.arrival_column = column;
      if (!in.seconds(arrival)) return false;
      line.arrival = Time(arrival.value());
      return true;
    }
    case prompt:
      return scan_prompt(in, line);
    case output_tokens:
      return in.integer(1, max_request_tokens, line.output_tokens);
    case max_tokens:
      return in.integer(1, max_request_tokens, line.max_tokens);
    case priority:
      return in.integer(INT32_MIN, INT32_MAX, line.priority);
    case salt:
    case adapter: {
      std::string_view name;
      if (!in.name(name)) return false;
      (key == salt ? line.salt : line.adapter) = content_id(name);
      return true;
    }
    case session:
      return in.name(line.session);
    case after:
      line.after_column = column;
      return in.name(line.after);
    case think_s:
      return in.seconds(line.think);
    case none:
      return false;
  }
  return false;
}

}  // namespace

bool scan_kvsim_line(std::string_view text, KvsimLine& line) {
  line.id = line.session = line.after = {};
  line.arrival = Time(0), line.think = Duration(0);
  line.prompt.clear(), line.prompt_tokens = 0;
  line.priority = 0, line.salt = line.adapter = 0;
  line.id_column = line.after_column = line.arrival_column = 1;
  Scanner in(text);
  unsigned seen = 0;
  if (!in.take('{')) return false;
  do {
    std::string_view word;
    if (!in.string(word) || !in.take(':')) return false;
    const Key key = key_of(word);
    if (key == none || (seen >> key & 1U) != 0 || !scan_value(in, key, line)) return false;
    seen |= 1U << key;
  } while (in.take(','));
  if (!in.take('}') || !in.at_end()) return false;

  const auto has = [&](Key key) { return (seen >> key & 1U) != 0; };
  line.has_after = has(after);
  if (!has(id) || !has(prompt) || (!has(arrival_s) && !has(after)) || (has(think_s) && !has(after)))
    return false;
  if (!has(output_tokens) && !has(max_tokens)) return false;
  if (!has(output_tokens)) line.output_tokens = line.max_tokens;
  if (!has(max_tokens)) line.max_tokens = line.output_tokens;
  return true;
}

}  // namespace kvsim::workload
