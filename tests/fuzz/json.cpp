#include <string>
#include <vector>

#include "config/document.h"
#include "diag/check.h"
#include "fuzz/targets.h"

namespace kvsim::fuzz {
namespace {

using config::Document;
using config::Kind;
using config::Value;

// Every value points at its own first character.
void check_positions(Value value, const std::vector<std::string_view>& lines) {
  const Diagnostic d = value.diagnostic("c", "m");
  KVSIM_CHECK(d.line >= 1 && d.line <= static_cast<int>(lines.size()) && d.column >= 1, "{}:{}",
              d.line, d.column);
  const std::string_view line = lines[static_cast<std::size_t>(d.line - 1)];
  KVSIM_CHECK(d.column <= static_cast<int>(line.size()), "column {} of {}", d.column, line.size());
  const char c = line[static_cast<std::size_t>(d.column - 1)];
  bool right = false;
  switch (value.kind()) {
    case Kind::null:
      right = c == 'n';
      break;
    case Kind::boolean:
      right = c == (value.boolean() ? 't' : 'f');
      break;
    case Kind::integer:
    case Kind::number:
      right = c == '-' || (c >= '0' && c <= '9');
      break;
    case Kind::string:
      right = c == '"';
      break;
    case Kind::array:
      right = c == '[';
      break;
    case Kind::object:
      right = c == '{';
      break;
  }
  KVSIM_CHECK(right, "\"{}\" at {}:{} is no {}", c, d.line, d.column, value.describe());
  for (std::size_t i = 0; i < value.size(); ++i) {
    check_positions(value.at(i), lines);
    if (value.is_object())
      KVSIM_CHECK(value.at(i).key_diagnostic("c", "m").column >= 1, "a key without a place");
  }
}

// What is written back reads as the same document.
void check_round_trip(const Document& document) {
  const std::string once = document.root().json();
  const std::string twice = Document::parse(once, "again").root().json();
  KVSIM_CHECK(once == twice, "{} became {}", once.substr(0, 200), twice.substr(0, 200));
}

}  // namespace

void json(std::string_view bytes) {
  const std::string text(bytes);
  const Document document = Document::parse(text, "input", config::Comments::allowed);
  std::vector<std::string_view> lines;
  std::string_view rest = text;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
  for (;;) {
    const auto end = rest.find('\n');
    lines.push_back(rest.substr(0, end));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  check_positions(document.root(), lines);
  check_round_trip(document);
}

}  // namespace kvsim::fuzz
