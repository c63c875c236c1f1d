#pragma once
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/document.h"
#include "kv/token_run.h"

namespace kvsim::conform {

// The names of contents by their ids, so that runs can be written as they were recorded.
class Contents {
 public:
  std::uint64_t id(const std::string& name);
  const std::string& name(std::uint64_t id) const { return names_.at(id); }

 private:
  std::map<std::uint64_t, std::string> names_;
};

// The members of a recorded object, each asked for once by name and type. Every question throws
// InputError with the place for a member that is missing, of another type or out of range;
// finish() does for members that nobody asked for.
class Arguments {
 public:
  explicit Arguments(config::Value object, std::initializer_list<std::string_view> known = {});

  bool has(std::string_view key);
  std::string text(std::string_view key);
  std::string text(std::string_view key, std::string_view otherwise);
  std::string word(std::string_view key, std::span<const std::string_view> words);
  std::int64_t integer(std::string_view key, std::int64_t low = 0,
                       std::int64_t high = std::numeric_limits<std::int32_t>::max());
  std::optional<std::int64_t> maybe_integer(
      std::string_view key, std::int64_t low = 0,
      std::int64_t high = std::numeric_limits<std::int32_t>::max());
  double number(std::string_view key, double low, double high);
  bool flag(std::string_view key);
  bool flag(std::string_view key, bool otherwise);
  std::vector<std::string> texts(std::string_view key);
  // Spans [content, length] or [content, length, offset] as runs, in the order and pieces recorded.
  // Not empty; at most max_tokens in all.
  std::vector<kv::TokenRun> runs(std::string_view key, Contents& contents);
  config::Value object(std::string_view key);
  config::Value list(std::string_view key);
  // The member as it stands (null or absent: not exists()), for shapes of its own.
  config::Value raw(std::string_view key);

  // Refuses the case: kvsim has nothing that behaves as the member asks. The case then counts as
  // different, the others go on.
  [[noreturn]] void unsupported(std::string_view key, const std::string& why) const;
  [[noreturn]] void invalid(std::string_view key, const std::string& code,
                            const std::string& message, const std::string& hint = {}) const;
  void finish() const;

  static constexpr std::int64_t max_tokens = 100'000'000;

 private:
  config::Value need(std::string_view key);
  [[noreturn]] void mismatch(std::string_view key, const config::Value& v,
                             std::string_view wanted) const;
  config::Value object_;
  std::vector<std::string> known_;
};

// The code of diagnostics by which a case is refused and not the whole input.
inline constexpr std::string_view unsupported_code = "conform-unsupported";

}  // namespace kvsim::conform
