#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>

#include "cli/explain/codes.h"
#include "config/document.h"

namespace fs = std::filesystem;

namespace {

// Words with hyphens inside: what a code looks like.
bool is_kebab(std::string_view text) {
  const auto fits = [](char c) {
    return std::islower(static_cast<unsigned char>(c)) ||
           std::isdigit(static_cast<unsigned char>(c)) || c == '-';
  };
  return text.find('-') != std::string_view::npos && text.front() != '-' && text.back() != '-' &&
         std::ranges::all_of(text, fits);
}

// The function whose call the text before a literal has open, when the literal is its first or
// second argument; "=" for an assignment to a code.
std::string_view opened_by(std::string_view before) {
  while (!before.empty() && std::isspace(static_cast<unsigned char>(before.back())))
    before.remove_suffix(1);
  if (before.ends_with("code =")) return "=";
  int depth = 0, commas = 0;
  while (!before.empty() && commas <= 1) {
    const char c = before.back();
    before.remove_suffix(1);
    if (c == ';' || c == '{' || c == '}') return {};
    if (c == ')') ++depth;
    if (c == '(' && depth-- == 0) break;
    if (c == ',' && depth == 0) ++commas;
  }
  if (commas > 1) return {};
  const auto end = before.size();
  auto begin = end;
  while (begin > 0 &&
         (std::isalnum(static_cast<unsigned char>(before[begin - 1])) || before[begin - 1] == '_'))
    --begin;
  return before.substr(begin, end - begin);
}

// Codes as sources write them, with a file that does.
std::map<std::string, std::string> codes_in_sources() {
  const std::set<std::string_view> makers{
      "=",    "diagnostic", "key_diagnostic", "locate",  "error", "warning",
      "warn", "fail",       "refuse",         "problem", "at",    "complain"};
  std::map<std::string, std::string> found;
  for (const auto& entry :
       fs::recursive_directory_iterator(std::string(KVSIM_SOURCE_DIR) + "/src")) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
    const std::string text = kvsim::config::read_file(entry.path().string());
    for (std::size_t open = text.find('"'); open != std::string::npos;) {
      const std::size_t close = text.find_first_of("\"\n", open + 1);
      if (close == std::string::npos) break;
      const std::string_view word = std::string_view(text).substr(open + 1, close - open - 1);
      if (!word.empty() && is_kebab(word) &&
          (makers.contains(opened_by(std::string_view(text).substr(0, open))) ||
           word.starts_with("usage-")))
        found.emplace(word, entry.path().filename().string());
      open = text.find('"', close + 1);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("every code of a diagnostic in the sources is explained") {
  std::set<std::string> explained;
  for (const kvsim::cli::CodeText& c : kvsim::cli::code_texts()) explained.insert(c.code);
  const auto found = codes_in_sources();
  CHECK(found.size() >= 60);
  for (const auto& entry : found) {
    INFO(entry.first, " in ", entry.second, ": add a row to src/cli/explain/codes.cpp");
    CHECK(explained.contains(entry.first));
  }
}
