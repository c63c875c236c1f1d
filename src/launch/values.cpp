#include "launch/values.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "config/document.h"
#include "diag/diagnostic.h"
#include "units/parse.h"

namespace kvsim::launch {

std::optional<std::int64_t> human_integer(std::string_view text) {
  if (const auto plain = parse_integer(text)) return plain;
  if (text.size() < 2) return std::nullopt;
  constexpr std::string_view decimal = "kmgt", binary = "KMGT";
  const std::string_view digits = text.substr(0, text.size() - 1);
  if (digits.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  const auto number = parse_number(digits);
  if (!number) return std::nullopt;
  double value = 0;
  if (const auto power = decimal.find(text.back()); power != std::string_view::npos)
    value = std::floor(*number * std::pow(1000.0, static_cast<double>(power + 1)) + 1e-6);
  else if (const auto shift = binary.find(text.back());
           shift != std::string_view::npos && parse_integer(digits))
    value = *number * std::pow(1024.0, static_cast<double>(shift + 1));
  else
    return std::nullopt;
  if (value > 9e18) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::optional<bool> truth(std::string_view text) {
  const std::string word = lower(text);
  if (word == "true" || word == "1" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "0" || word == "no" || word == "off") return false;
  return std::nullopt;
}

std::string json_of_pairs(std::string_view text) {
  if (text.empty() || text.front() == '{') return std::string(text);
  std::string out;
  while (true) {
    const std::string_view pair = text.substr(0, text.find(','));
    const auto equals = pair.find('=');
    if (equals == std::string_view::npos) return std::string(text);
    const std::string_view value = pair.substr(equals + 1);
    out += out.empty() ? "{" : ",";
    out += config::json_string(pair.substr(0, equals)) + ":";
    out += parse_integer(value) ? std::string(value) : config::json_string(value);
    if (pair.size() == text.size()) return out + "}";
    text.remove_prefix(pair.size() + 1);
  }
}

std::optional<std::string> json_member(std::string_view object, std::string_view key) {
  try {
    const config::Document document = config::Document::parse(std::string(object), "value");
    if (!document.root().is_object()) return std::nullopt;
    const config::Value value = document.root().find(key);
    if (!value.exists()) return std::nullopt;
    if (value.is_null()) return "";
    return value.is_string() ? value.string() : value.json();
  } catch (const InputError&) {
    return std::nullopt;
  }
}

bool is_json_object(std::string_view text) {
  try {
    return config::Document::parse(std::string(text), "value").root().is_object();
  } catch (const InputError&) {
    return false;
  }
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> tails) {
  return std::any_of(tails.begin(), tails.end(),
                     [&](std::string_view tail) { return text.ends_with(tail); });
}

}  // namespace kvsim::launch
