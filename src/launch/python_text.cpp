#include "launch/python_text.h"

#include <algorithm>
#include <set>

#include "config/document.h"
#include "units/parse.h"

namespace kvsim::launch {
namespace {

constexpr std::string_view blanks = " \t";

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool is_quote(char c) { return c == '\'' || c == '"'; }

// The end of the quoted text that starts at `at`: one past its closing quote, or the text's end.
std::size_t end_of_quote(std::string_view text, std::size_t at) {
  const char mark = text[at];
  for (++at; at < text.size() && text[at] != mark; ++at)
    if (text[at] == '\\') ++at;
  return std::min(at + 1, text.size());
}

// The end of a value: the comma or closing bracket at its own depth.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (is_quote(c)) {
      at = end_of_quote(text, at);
      continue;
    }
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    if (c == ')' || c == ']' || c == '}' || c == '>') {
      if (depth == 0) return at;
      --depth;
    }
    if (c == ',' && depth == 0) return at;
    ++at;
  }
  return at;
}

std::string unquoted(std::string_view text) {
  text = trim(text);
  if (text.size() < 2 || !is_quote(text.front()) || text.back() != text.front())
    return std::string(text);
  std::string out;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '\\' && i + 2 < text.size()) ++i;
    out += text[i];
  }
  return out;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.find_first_not_of(
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
                              std::string_view::npos;
}

// Deeper nesting than this is kept as text.
constexpr int deepest = 20;

std::string json_at(std::string_view value, int depth);

std::string object_json(std::string_view text, int depth) {
  std::string out;
  std::set<std::string> keys;
  for (const PythonPair& p : python_pairs(text)) {
    const std::string key = config::json_string(p.key) + ":";
    // A key printed twice would be no JSON; the last one counts, as in Python.
    if (!keys.insert(key).second) continue;
    out += (out.empty() ? "" : ",") + key + json_at(p.value, depth + 1);
  }
  return "{" + out + "}";
}

std::string json_at(std::string_view value, int depth) {
  value = trim(value);
  if (depth > deepest) return config::json_string(value);
  if (value == "None") return "null";
  if (value == "True") return "true";
  if (value == "False") return "false";
  if (parse_integer(value)) return std::string(value);
  if (!value.empty() && value.front() == '{') return object_json(value, depth);
  const auto bracket = value.find('(');
  if (bracket != std::string_view::npos && is_name(value.substr(0, bracket)))
    return object_json(value.substr(bracket), depth);
  return config::json_string(value);
}

}  // namespace

std::vector<PythonPair> python_pairs(std::string_view text) {
  std::vector<PythonPair> pairs;
  text = trim(text);
  if (!text.empty() && (text.front() == '{' || text.front() == '(')) text.remove_prefix(1);
  std::size_t at = 0;
  while (at < text.size()) {
    at = std::min(text.find_first_not_of(" \t,", at), text.size());
    if (at >= text.size()) break;
    const bool quoted = is_quote(text[at]);
    const std::size_t key_end =
        quoted ? end_of_quote(text, at) : std::min(text.find('=', at), text.size());
    const std::string key = unquoted(text.substr(at, key_end - at));
    std::size_t value = std::min(text.find_first_not_of(blanks, key_end), text.size());
    if (!is_name(key) || value >= text.size() || (text[value] != '=' && text[value] != ':')) break;
    const std::size_t end = end_of_value(text, ++value);
    pairs.push_back({key, unquoted(text.substr(value, end - value))});
    if (end >= text.size() || text[end] != ',') break;
    at = end + 1;
  }
  return pairs;
}

std::string python_json(std::string_view value) { return json_at(value, 0); }

}  // namespace kvsim::launch
