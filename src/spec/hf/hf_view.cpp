#include "spec/hf/hf_view.h"

#include <fmt/format.h>

namespace kvsim::spec::hf {

View::View(config::Value root, Diagnostics& diagnostics)
    : root_(root), text_(root), diagnostics_(diagnostics) {
  for (const std::string_view name : {"text_config", "llm_config", "language_config"}) {
    const config::Value inner = root.find(name);
    if (!inner.exists() || !inner.is_object()) continue;
    text_ = inner, nested_ = true;
    return;
  }
}

config::Value View::find(std::string_view name) const {
  for (const config::Value& scope : {text_, root_})
    if (const config::Value v = scope.find(name); v.exists() && !v.is_null()) return v;
  return {};
}

void View::missing(std::string_view name) {
  diagnostics_.add(
      text_.diagnostic("missing-field", fmt::format("required field \"{}\" is missing", name)));
}

void View::fail(std::string_view name, std::string message, std::string hint) {
  const config::Value v = find(name);
  diagnostics_.add(
      (v.exists() ? v : text_).diagnostic("hf-unsupported", std::move(message), std::move(hint)));
}

std::optional<std::int64_t> View::integer(config::Value v, std::string_view name,
                                          std::int64_t low) {
  constexpr std::int64_t high = std::int64_t{1} << 30;
  if (v.kind() != config::Kind::integer || v.is_oversized_integer()) {
    diagnostics_.add(v.diagnostic(
        "wrong-type", fmt::format("{}: expected a whole number, found {}", name, v.describe())));
    return std::nullopt;
  }
  if (v.integer() < low || v.integer() > high) {
    diagnostics_.add(v.diagnostic(
        "out-of-range",
        fmt::format("{} must be from {} up to 2^30, found {}", name, low, v.integer())));
    return std::nullopt;
  }
  return v.integer();
}

std::int64_t View::need(std::string_view name) { return need_any({name}); }

std::int64_t View::need_any(std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const config::Value v = find(name); v.exists()) return integer(v, name, 1).value_or(1);
  missing(*names.begin());
  return 1;
}

std::int64_t View::get(std::string_view name, std::int64_t fallback, std::int64_t low) {
  const config::Value v = find(name);
  return v.exists() ? integer(v, name, low).value_or(fallback) : fallback;
}

std::int64_t View::get_or_default(std::string_view name, std::int64_t library_default) {
  if (!has(name))
    assume(
        fmt::format("{} {} is the default of the family in transformers.", name, library_default));
  return get(name, library_default, 1);
}

bool View::flag(std::string_view name, bool fallback) {
  const config::Value v = find(name);
  if (!v.exists()) return fallback;
  if (v.kind() != config::Kind::boolean) {
    diagnostics_.add(v.diagnostic(
        "wrong-type", fmt::format("{}: expected true or false, found {}", name, v.describe())));
    return fallback;
  }
  return v.boolean();
}

std::string View::word(std::string_view name, std::string_view fallback) {
  const config::Value v = find(name);
  if (!v.exists()) return std::string(fallback);
  if (!v.is_string()) {
    diagnostics_.add(v.diagnostic(
        "wrong-type", fmt::format("{}: expected a string, found {}", name, v.describe())));
    return std::string(fallback);
  }
  return v.string();
}

std::vector<std::int64_t> View::integers(std::string_view name) {
  const config::Value v = find(name);
  std::vector<std::int64_t> out;
  if (!v.exists()) return out;
  if (!v.is_array()) {
    diagnostics_.add(v.diagnostic(
        "wrong-type", fmt::format("{}: expected a list, found {}", name, v.describe())));
    return out;
  }
  for (std::size_t i = 0; i < v.size(); ++i) out.push_back(integer(v.at(i), name, 0).value_or(0));
  return out;
}

std::vector<std::string> View::words(std::string_view name) {
  const config::Value v = find(name);
  std::vector<std::string> out;
  if (!v.exists()) return out;
  if (!v.is_array()) {
    diagnostics_.add(v.diagnostic(
        "wrong-type", fmt::format("{}: expected a list, found {}", name, v.describe())));
    return out;
  }
  for (std::size_t i = 0; i < v.size(); ++i) {
    if (v.at(i).is_string())
      out.push_back(v.at(i).string());
    else
      diagnostics_.add(v.at(i).diagnostic(
          "wrong-type", fmt::format("{}: expected a string, found {}", name, v.at(i).describe())));
  }
  return out;
}

}  // namespace kvsim::spec::hf
