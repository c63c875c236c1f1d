#include "kernels/bench/json_writer.h"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace kvsim::kernels::bench {

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  text_ += open_.size() == 1 ? ": " : ":";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
  return *this;
}

JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  if (number == std::floor(number) && std::abs(number) < 1e15)
    return value(static_cast<long long>(number));
  char digits[32];
  const char* const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  return raw({digits, static_cast<std::size_t>(end - digits)});
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  open_ += bracket;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  const bool lines = !first_ && (open_.size() == 1 || open_ == "{[");
  open_.pop_back();
  if (lines) new_line();
  text_ += bracket;
  first_ = false;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view text) {
  separate();
  text_ += text;
  return *this;
}

void JsonWriter::separate() {
  if (std::exchange(after_key_, false)) return;
  if (!std::exchange(first_, false)) text_ += ',';
  if (open_.size() == 1 || open_ == "{[") new_line();
}

void JsonWriter::new_line() {
  text_ += '\n';
  text_.append(open_.size(), ' ');
}

void JsonWriter::quote(std::string_view text) {
  text_ += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      text_ += escape;
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

}  // namespace kvsim::kernels::bench
