#include "conform/arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "diag/suggest.h"
#include "workload/request.h"

namespace kvsim::conform {

using config::Kind;
using config::Value;

std::uint64_t Contents::id(const std::string& name) {
  const std::uint64_t id = workload::content_id(name);
  names_.try_emplace(id, name);
  return id;
}

Arguments::Arguments(Value object, std::initializer_list<std::string_view> known)
    : object_(object), known_(known.begin(), known.end()) {
  if (!object_.is_object())
    throw InputError(object_.diagnostic(
        "wrong-type", fmt::format("expected an object, found {}", object_.describe())));
}

Value Arguments::raw(std::string_view key) {
  if (std::ranges::find(known_, key) == known_.end()) known_.emplace_back(key);
  const Value v = object_.find(key);
  return v.exists() && v.is_null() ? Value{} : v;
}

bool Arguments::has(std::string_view key) { return raw(key).exists(); }

Value Arguments::need(std::string_view key) {
  const Value v = raw(key);
  if (!v.exists())
    throw InputError(
        object_.diagnostic("missing-field", fmt::format("required field \"{}\" is missing", key)));
  return v;
}

void Arguments::mismatch(std::string_view key, const Value& v, std::string_view wanted) const {
  throw InputError(v.diagnostic(
      "wrong-type", fmt::format("{}: expected {}, found {}", key, wanted, v.describe())));
}

std::string Arguments::text(std::string_view key) {
  const Value v = need(key);
  if (!v.is_string()) mismatch(key, v, "a string");
  return v.string();
}

std::string Arguments::text(std::string_view key, std::string_view otherwise) {
  return has(key) ? text(key) : std::string(otherwise);
}

std::string Arguments::word(std::string_view key, std::span<const std::string_view> words) {
  std::string found = text(key);
  if (std::ranges::find(words, found) != words.end()) return found;
  const std::vector<std::string> list(words.begin(), words.end());
  invalid(key, "unknown-word", fmt::format("unknown {} {}", key, config::json_string(found)),
          suggestion(found, list));
}

std::int64_t Arguments::integer(std::string_view key, std::int64_t low, std::int64_t high) {
  const Value v = need(key);
  const bool whole = v.kind() == Kind::integer;
  if (!whole && !v.is_oversized_integer()) mismatch(key, v, "a whole number");
  if (!whole || v.integer() < low || v.integer() > high)
    throw InputError(v.diagnostic(
        "out-of-range",
        fmt::format("{} must be from {} up to {}, found {}", key, low, high, v.describe())));
  return v.integer();
}

std::optional<std::int64_t> Arguments::maybe_integer(std::string_view key, std::int64_t low,
                                                     std::int64_t high) {
  if (!has(key)) return std::nullopt;
  return integer(key, low, high);
}

double Arguments::number(std::string_view key, double low, double high) {
  const Value v = need(key);
  if (v.kind() != Kind::integer && v.kind() != Kind::number) mismatch(key, v, "a number");
  if (!(v.number() >= low && v.number() <= high))
    throw InputError(v.diagnostic(
        "out-of-range",
        fmt::format("{} must be from {} up to {}, found {}", key, low, high, v.describe())));
  return v.number();
}

bool Arguments::flag(std::string_view key) {
  const Value v = need(key);
  if (v.kind() != Kind::boolean) mismatch(key, v, "true or false");
  return v.boolean();
}

bool Arguments::flag(std::string_view key, bool otherwise) {
  return has(key) ? flag(key) : otherwise;
}

Value Arguments::object(std::string_view key) {
  const Value v = need(key);
  if (!v.is_object()) mismatch(key, v, "an object");
  return v;
}

Value Arguments::list(std::string_view key) {
  const Value v = need(key);
  if (!v.is_array()) mismatch(key, v, "a list");
  return v;
}

std::vector<std::string> Arguments::texts(std::string_view key) {
  const Value v = need(key);
  if (!v.is_array()) mismatch(key, v, "a list of strings");
  std::vector<std::string> out;
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (!v.at(i).is_string()) mismatch(key, v.at(i), "a string");
    out.push_back(v.at(i).string());
  }
  return out;
}

std::vector<kv::TokenRun> Arguments::runs(std::string_view key, Contents& contents) {
  const Value v = need(key);
  if (!v.is_array() || v.size() == 0) mismatch(key, v, "a list of spans [content, length, offset]");
  std::vector<kv::TokenRun> out;
  std::int64_t tokens = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const Value span = v.at(i);
    const bool good = span.is_array() && (span.size() == 2 || span.size() == 3) &&
                      span.at(0).is_string() && span.at(1).kind() == Kind::integer &&
                      (span.size() == 2 || span.at(2).kind() == Kind::integer);
    if (!good) mismatch(key, span, "a span [content, length] or [content, length, offset]");
    kv::TokenRun run;
    run.length = span.at(1).integer();
    run.offset = span.size() == 3 ? span.at(2).integer() : 0;
    if (run.length < 1 || run.length > max_tokens || run.offset < 0 || run.offset > max_tokens)
      throw InputError(span.diagnostic(
          "out-of-range", fmt::format("{}: the length of a span is from 1, its offset from 0 up "
                                      "to {}, found {}",
                                      key, max_tokens, span.json())));
    tokens += run.length;
    if (tokens > max_tokens)
      throw InputError(
          v.diagnostic("out-of-range", fmt::format("{} has over {} tokens", key, max_tokens)));
    run.content = contents.id(span.at(0).string());
    out.push_back(run);
  }
  return out;
}

void Arguments::invalid(std::string_view key, const std::string& code, const std::string& message,
                        const std::string& hint) const {
  const Value v = object_.find(key);
  throw InputError((v.exists() ? v : object_).diagnostic(code, message, hint));
}

void Arguments::unsupported(std::string_view key, const std::string& why) const {
  invalid(key, std::string(unsupported_code), why);
}

void Arguments::finish() const {
  std::vector<Diagnostic> problems;
  for (std::size_t i = 0; i < object_.size() && problems.size() < 20; ++i)
    if (std::ranges::find(known_, object_.key(i)) == known_.end())
      problems.push_back(object_.at(i).key_diagnostic(
          "unknown-key", fmt::format("unknown key {}", config::json_string(object_.key(i))),
          suggestion(object_.key(i), known_)));
  if (!problems.empty()) throw InputError(std::move(problems));
}

}  // namespace kvsim::conform
