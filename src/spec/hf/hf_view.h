#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.h"
#include "spec/model_spec.h"

namespace kvsim::spec::hf {

// A Hugging Face config.json as the family importers see it: the language part (text_config or the
// like) first, then the outer object. Wrong types, values out of range and missing fields are
// collected with their places; the getters then return a harmless value, so that one pass finds
// all.
class View {
 public:
  View(config::Value root, Diagnostics& diagnostics);

  // The value under the first of these names that is present and not null.
  config::Value find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name).exists(); }

  // A whole number of at least 1.
  std::int64_t need(std::string_view name);
  std::int64_t need_any(std::initializer_list<std::string_view> names);
  // Absent or null: `fallback`. Else a whole number of at least `low`.
  std::int64_t get(std::string_view name, std::int64_t fallback, std::int64_t low = 0);
  // Absent or null: the default of the family's class in transformers, noted in the model's notes.
  std::int64_t get_or_default(std::string_view name, std::int64_t library_default);
  bool flag(std::string_view name, bool fallback);
  std::string word(std::string_view name, std::string_view fallback);
  std::vector<std::int64_t> integers(std::string_view name);  // empty when absent
  std::vector<std::string> words(std::string_view name);      // empty when absent

  void missing(std::string_view name);
  // Points at the field where it is present, else at the object.
  void fail(std::string_view name, std::string message, std::string hint = {});
  // Something the file leaves open and the importer took from elsewhere; ends up in the notes.
  void assume(std::string text) { assumptions_.push_back(std::move(text)); }
  const std::vector<std::string>& assumptions() const { return assumptions_; }

  config::Value root() const { return root_; }
  config::Value text() const { return text_; }
  bool nested() const { return nested_; }

 private:
  std::optional<std::int64_t> integer(config::Value value, std::string_view name, std::int64_t low);

  config::Value root_, text_;
  bool nested_ = false;
  Diagnostics& diagnostics_;
  std::vector<std::string> assumptions_;
};

}  // namespace kvsim::spec::hf
