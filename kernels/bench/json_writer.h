#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kvsim::kernels::bench {

// Writes JSON in the order of the calls. Members of the outermost object and elements of its arrays
// stand on lines of their own, all that is deeper on one line, so that a result is one line.
// Numbers are the shortest text that reads back as the same double; what is not finite becomes
// null.
class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }

  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(double number);
  template <class Integer>
  JsonWriter& value(Integer number) {
    if constexpr (std::is_same_v<Integer, bool>) {
      return raw(number ? "true" : "false");
    } else {
      static_assert(std::is_integral_v<Integer>);
      return raw(std::to_string(number));
    }
  }
  template <class T>
  JsonWriter& value(const std::optional<T>& maybe) {
    return maybe ? value(*maybe) : null();
  }
  JsonWriter& null() { return raw("null"); }

  template <class T>
  JsonWriter& member(std::string_view name, const T& v) {
    return key(name).value(v);
  }

  std::string take() { return std::move(text_) + '\n'; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& raw(std::string_view text);
  void separate();
  void new_line();
  void quote(std::string_view text);

  std::string text_;
  std::string open_;  // the brackets that are open
  bool first_ = true, after_key_ = false;
};

}  // namespace kvsim::kernels::bench
