#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "cli/explain/codes.h"
#include "config/document.h"

namespace fs = std::filesystem;

namespace {

// Codes as sources write them: the first argument of what makes a diagnostic, or an assignment.
std::map<std::string, std::string> codes_in_sources() {
  const std::regex made(
      R"re((?:\bcode = |\b(?:diagnostic|key_diagnostic|locate|error|warning|warn|fail|refuse|complain|problem|at)\((?:[^;{}"]{0,80}(?:"[^"]*"[^;{}"]{0,40})?,)?\s*)"([a-z0-9]+(?:-[a-z0-9]+)+)")re");
  const std::regex usage(R"re("(usage-[a-z-]+)"\s*\))re");
  std::map<std::string, std::string> found;
  for (const auto& entry :
       fs::recursive_directory_iterator(std::string(KVSIM_SOURCE_DIR) + "/src")) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
    const std::string text = kvsim::config::read_file(entry.path().string());
    for (const std::regex& form : {made, usage})
      for (std::sregex_iterator i(text.begin(), text.end(), form), end; i != end; ++i)
        found.emplace((*i)[1].str(), entry.path().filename().string());
  }
  return found;
}

}  // namespace

TEST_CASE("every code of a diagnostic in the sources is explained") {
  std::set<std::string> explained;
  for (const kvsim::cli::CodeText& c : kvsim::cli::code_texts()) explained.insert(c.code);
  const auto found = codes_in_sources();
  CHECK(found.size() >= 30);
  for (const auto& [code, file] : found) {
    INFO(code, " in ", file, ": add a row to src/cli/explain/codes.cpp");
    CHECK(explained.contains(code));
  }
}
