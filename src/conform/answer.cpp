#include "conform/answer.h"

#include <fmt/format.h>

#include <cmath>

namespace kvsim::conform {
namespace {

// Records round what is no whole number to nine places.
constexpr double tolerance = 1e-9 + 1e-12;

bool is_number(const config::Value& v) {
  return v.kind() == config::Kind::integer || v.kind() == config::Kind::number;
}
bool is_zero(const config::Value& v) { return is_number(v) && v.number() == 0; }

struct Matches {
  const config::Value& recorded;

  bool operator()(std::monostate) const { return recorded.is_null(); }
  bool operator()(bool value) const {
    return recorded.kind() == config::Kind::boolean && recorded.boolean() == value;
  }
  bool operator()(std::int64_t value) const {
    if (recorded.kind() == config::Kind::integer) return recorded.integer() == value;
    return (*this)(static_cast<double>(value));
  }
  bool operator()(double value) const {
    return is_number(recorded) && std::abs(recorded.number() - value) <= tolerance;
  }
  bool operator()(const std::string& value) const {
    return recorded.is_string() && recorded.string() == value;
  }
  bool operator()(const Answer::List& items) const {
    if (!recorded.is_array() || recorded.size() != items.size()) return false;
    for (std::size_t i = 0; i < items.size(); ++i)
      if (!items[i].matches(recorded.at(i))) return false;
    return true;
  }
  bool operator()(const Answer::Map& members) const {
    if (!recorded.is_object()) return false;
    // A step's maps name each request at most once, so that equal counts and every recorded entry
    // found make the maps equal.
    std::size_t recorded_entries = 0, entries = 0, place = 0;
    for (const auto& [key, value] : members) entries += value.is_zero() ? 0 : 1;
    for (std::size_t i = 0; i < recorded.size(); ++i) {
      if (is_zero(recorded.at(i))) continue;
      ++recorded_entries;
      // Both are usually in the order of scheduling: the search starts where the last one ended.
      const std::string& key = recorded.key(i);
      std::size_t tried = 0;
      while (tried < members.size() && members[place].first != key) {
        place = (place + 1) % members.size();
        ++tried;
      }
      if (tried == members.size() || !members[place].second.matches(recorded.at(i))) return false;
    }
    return recorded_entries == entries;
  }
};

struct Json {
  std::string& out;

  void operator()(std::monostate) const { out += "null"; }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(std::int64_t value) const { out += fmt::format("{}", value); }
  void operator()(double value) const { out += fmt::format("{}", value); }
  void operator()(const std::string& value) const { out += config::json_string(value); }
  void operator()(const Answer::List& items) const {
    out += '[';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out += ',';
      out += items[i].json();
    }
    out += ']';
  }
  void operator()(const Answer::Map& members) const {
    out += '{';
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i > 0) out += ',';
      out += config::json_string(members[i].first) + ":" + members[i].second.json();
    }
    out += '}';
  }
};

}  // namespace

bool Answer::matches(const config::Value& recorded) const {
  return std::visit(Matches{recorded}, value_);
}

bool Answer::is_zero() const {
  const auto* whole = std::get_if<std::int64_t>(&value_);
  const auto* real = std::get_if<double>(&value_);
  return (whole && *whole == 0) || (real && *real == 0);
}

std::string Answer::json() const {
  std::string out;
  std::visit(Json{out}, value_);
  return out;
}

void Answers::set(std::string_view field, Answer value) {
  for (auto& [name, old] : fields_)
    if (name == field) return void(old = std::move(value));
  fields_.emplace_back(field, std::move(value));
}

const Answer& Answers::operator[](std::string_view field) const {
  static const Answer none;
  for (const auto& [name, value] : fields_)
    if (name == field) return value;
  return none;
}

}  // namespace kvsim::conform
