#pragma once
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "config/document.h"

namespace kvsim::conform {

// What kvsim observes, in the shape in which engines record it: null, a truth value, a number, a
// text, a list or a map.
class Answer {
 public:
  using List = std::vector<Answer>;
  using Map = std::vector<std::pair<std::string, Answer>>;

  Answer() = default;  // null: nothing to be observed
  Answer(bool value) : value_(value) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Answer(T value) : value_(static_cast<std::int64_t>(value)) {}
  Answer(double value) : value_(value) {}
  Answer(std::string value) : value_(std::move(value)) {}
  Answer(std::string_view value) : value_(std::string(value)) {}
  Answer(const char* value) : value_(std::string(value)) {}
  Answer(List items) : value_(std::move(items)) {}
  Answer(Map members) : value_(std::move(members)) {}

  // A list of anything that an answer can be made of.
  template <class Range>
  static Answer list(const Range& range) {
    List items;
    for (const auto& item : range) items.emplace_back(item);
    return Answer(std::move(items));
  }

  // Whether a record says the same. Lists in order; maps in any order, where an entry of 0 says no
  // more than a missing one; whole numbers exactly, others within 1e-9; true is not 1.
  bool matches(const config::Value& recorded) const;
  std::string json() const;
  bool is_zero() const;
  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Map> value_;
};

// Everything that can be observed after one operation or in one step, by the name of its field.
// Names are not copied.
class Answers {
 public:
  void set(std::string_view field, Answer value);
  // Null where the field was not observed.
  const Answer& operator[](std::string_view field) const;
  void clear() { fields_.clear(); }

 private:
  std::vector<std::pair<std::string_view, Answer>> fields_;
};

}  // namespace kvsim::conform
