#include "launch/secrets.h"

#include <algorithm>
#include <array>
#include <vector>

#include "diag/suggest.h"
#include "launch/values.h"

namespace kvsim::launch {
namespace {

constexpr std::array<std::string_view, 4> secret_words{"key", "token", "secret", "password"};

// --api-key and --ssl-keyfile-password, but not --long-prefill-token-threshold.
bool is_secret(const FlagRow& row) {
  const std::string_view flag = first_name(row);
  const std::string_view last = flag.substr(flag.rfind('-') + 1);
  return std::find(secret_words.begin(), secret_words.end(), last) != secret_words.end();
}

const FlagRow* row_of_any_engine(std::string_view name) {
  for (const EngineFlags* flags :
       {&vllm_flags(), &sglang_flags(), &trtllm_flags(), &llamacpp_flags()})
    if (const FlagRow* row = find_row(*flags, name)) return row;
  return nullptr;
}

}  // namespace

bool is_secret(std::string_view name) {
  const std::string word = lower(name);
  return std::any_of(secret_words.begin(), secret_words.end(),
                     [&](std::string_view s) { return word.find(s) != std::string::npos; });
}

bool is_secret(const EngineFlags& flags, const Argument& a) {
  if (a.row) return is_secret(*a.row);
  if (const FlagRow* row = row_of_any_engine(a.name)) return is_secret(*row);
  if (is_secret(std::string_view(a.from).substr(0, a.from.find_first_of("= ")))) return true;
  const FlagRow* near = find_row(flags, nearest_flag(flags, a.name));
  return near && is_secret(*near);
}

bool holds_secret(std::string_view text) {
  const std::string word = lower(text);
  for (std::string_view s : secret_words)
    for (auto at = word.find(s); at != std::string::npos; at = word.find(s, at + 1)) {
      const auto quote = at + s.size();
      if (quote >= word.size() || (word[quote] != '"' && word[quote] != '\'')) continue;
      const auto colon = word.find_first_not_of(" \t\n", quote + 1);
      if (colon != std::string::npos && word[colon] == ':') return true;
    }
  return false;
}

std::string nearest_flag(const EngineFlags& flags, std::string_view name) {
  constexpr std::size_t longest_name = 100;
  if (name.size() > longest_name) return "";
  std::vector<std::string> names;
  for (const FlagRow& row : flags.rows)
    for (std::string_view rest = row.names; !rest.empty();) {
      const auto comma = std::min(rest.find(','), rest.size());
      names.emplace_back(rest.substr(0, comma));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  return nearest(name, names).value_or("");
}

Argument concealed(const EngineFlags& flags, Argument a) {
  const bool secret =
      is_secret(flags, a) || std::any_of(a.values.begin(), a.values.end(), holds_secret);
  if (secret && !a.values.empty()) a.from = a.name + " ...";
  return a;
}

}  // namespace kvsim::launch
