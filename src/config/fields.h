#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "units/units.h"

// One description of each struct that comes from a file, used four times: reading it, echoing the
// resolved values, its JSON Schema and its reference page. A struct brings one function
//
//   void fields(FieldVisitor& v, EngineConfig& c) {
//     v.field({"max_num_seqs", "requests that may run at once"}, c.max_num_seqs, at_least(1));
//   }
//
// found by argument-dependent lookup; its member initialisers are the defaults.
namespace kvsim::config {

struct Field {
  std::string_view name;
  std::string_view doc;           // one clause: what it is, in which unit, what the default means
  std::string_view aliases = {};  // other accepted names, separated by commas
  bool required = false;
};

struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool open_low = false;  // low itself is not allowed
};
constexpr Range at_least(double low) {
  return {low, std::numeric_limits<double>::infinity(), false};
}
constexpr Range above(double low) { return {low, std::numeric_limits<double>::infinity(), true}; }
constexpr Range between(double low, double high) { return {low, high, false}; }
constexpr Range above_up_to(double low, double high) { return {low, high, true}; }

// A part of a document that its owner interprets later (a model reference, policy parameters): the
// JSON text of the value, and where it stood.
struct RawValue {
  std::string json;     // "" = not given
  std::string origin;   // "file:line:col"
  std::string pointer;  // JSON pointer inside that file
};

class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;

  // Scalars. The visitor may change the value (reader) or only look at it (echo, schema, docs).
  virtual void field(const Field&, bool&) = 0;
  virtual void field(const Field&, std::int64_t&, Range = {}) = 0;
  virtual void field(const Field&, double&, Range = {}) = 0;
  virtual void field(const Field&, std::string&) = 0;
  virtual void field(const Field&, Bytes&, Range = at_least(0)) = 0;
  virtual void field(const Field&, Duration&, Range = at_least(0)) = 0;  // range in seconds
  virtual void field(const Field&, Bandwidth&, Range = above(0)) = 0;  // range in bytes per second
  virtual void field(const Field&, RawValue&) = 0;
  virtual void field(const Field&, std::vector<std::int64_t>&, Range = {}) = 0;
  virtual void field(const Field&, std::vector<double>&, Range = {}) = 0;
  virtual void field(const Field&, std::vector<std::string>&) = 0;
  // A number kept as int.
  void field(const Field& f, int& value, Range range = {}) {
    std::int64_t wide = value;
    range.high = std::min(range.high, static_cast<double>(std::numeric_limits<int>::max()));
    range.low = std::max(range.low, static_cast<double>(std::numeric_limits<int>::min()));
    field(f, wide, range);
    value = static_cast<int>(wide);
  }

  // One word out of a closed list; `index` is its place in `words`.
  virtual void word(const Field&, int& index, std::span<const std::string_view> words) = 0;
  template <class E>
  void choice(const Field& f, E& value, std::span<const std::string_view> words) {
    int index = static_cast<int>(value);
    word(f, index, words);
    value = static_cast<E>(index);
  }

  // Fields that may be absent or null.
  template <class T, class... R>
  void field(const Field& f, std::optional<T>& value, R... range) {
    if (!begin_optional(f, value.has_value())) return value.reset();
    if (!value) value.emplace();
    field(f, *value, range...);
    end_optional();
  }
  template <class E>
  void choice(const Field& f, std::optional<E>& value, std::span<const std::string_view> words) {
    if (!begin_optional(f, value.has_value())) return value.reset();
    if (!value) value.emplace();
    choice(f, *value, words);
    end_optional();
  }

  // Whether fields are described instead of read: then all that a file of any kind may say counts.
  virtual bool describes() const { return true; }

  // Fields that only some of the objects of a kind have any use for, among them one of `owner`
  // ("the profile sglang"). Irrelevant ones are errors where a file gives them, and are not echoed.
  template <class Visit>
  void part(bool relevant, std::string_view owner, Visit visit) {
    if (!begin_part(relevant, owner)) return;
    visit();
    end_part();
  }

  // Nested structs.
  template <class T>
  void object(const Field& f, T& value) {
    if (!begin_object(f)) return;
    fields(*this, value);
    end_object();
  }
  template <class T>
  void object(const Field& f, std::optional<T>& value) {
    if (!begin_optional(f, value.has_value())) return value.reset();
    if (!value) value.emplace();
    object(f, *value);
    end_optional();
  }
  template <class T>
  void list(const Field& f, std::vector<T>& values) {
    const std::size_t count = begin_list(f, values.size());
    values.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (!begin_item(i)) continue;
      fields(*this, values[i]);
      end_item();
    }
    end_list();
  }

 protected:
  virtual bool begin_part(bool, std::string_view) { return true; }  // false: skip them
  virtual void end_part() {}
  virtual bool begin_optional(const Field&, bool has_value) = 0;
  virtual void end_optional() = 0;
  virtual bool begin_object(const Field&) = 0;  // false: skip the members
  virtual void end_object() = 0;
  virtual std::size_t begin_list(const Field&, std::size_t size) = 0;
  virtual bool begin_item(std::size_t i) = 0;
  virtual void end_item() = 0;
  virtual void end_list() = 0;
};

}  // namespace kvsim::config
