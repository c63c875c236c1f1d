#include "docs/console.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "config/document.h"
#include "support/process.h"

namespace kvsim::testing {
namespace fs = std::filesystem;
namespace {

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    out.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return out;
}

bool line_matches(std::string_view pattern, std::string_view line) {
  const auto dots = pattern.find("...");
  if (dots == std::string_view::npos) return pattern == line;
  if (!line.starts_with(pattern.substr(0, dots))) return false;
  pattern.remove_prefix(dots + 3), line.remove_prefix(dots);
  for (std::size_t skip = 0; skip <= line.size(); ++skip)
    if (line_matches(pattern, line.substr(skip))) return true;
  return false;
}

bool lines_match(const std::vector<std::string>& expected, std::size_t e,
                 const std::vector<std::string>& lines, std::size_t l) {
  if (e == expected.size()) return l == lines.size();
  if (expected[e] == "...") {
    for (std::size_t next = l; next <= lines.size(); ++next)
      if (lines_match(expected, e + 1, lines, next)) return true;
    return false;
  }
  return l < lines.size() && line_matches(expected[e], lines[l]) &&
         lines_match(expected, e + 1, lines, l + 1);
}

// A folder in which the paths of the repository's root are valid and nothing of it can be hurt.
class Workplace {
 public:
  explicit Workplace(const fs::path& root) {
    std::string name = (fs::temp_directory_path() / "kvsim-docs-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
    for (const char* shown : {"models", "scenarios", "docs", "tests", "README.md"})
      if (fs::exists(root / shown)) fs::create_symlink(root / shown, path_ / shown);
  }
  ~Workplace() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

}  // namespace

std::vector<ConsoleCommand> console_commands(std::string_view markdown) {
  std::vector<ConsoleCommand> out;
  bool inside = false;
  int number = 0;
  for (const std::string& line : split_lines(markdown)) {
    ++number;
    if (!inside) {
      inside = line == "```console";
    } else if (line == "```") {
      inside = false;
    } else if (line.starts_with("$ ")) {
      out.push_back({number, line.substr(2), {}});
    } else if (out.empty()) {
      throw std::runtime_error(
          fmt::format("line {}: a console block starts with a command", number));
    } else if ((line.starts_with("> ") || line == ">") && out.back().expected.empty()) {
      out.back().text += "\n" + (line.size() > 2 ? line.substr(2) : "");
    } else {
      out.back().expected.push_back(line);
    }
  }
  if (inside) throw std::runtime_error("a console block has no end");
  return out;
}

bool matches(const std::vector<std::string>& expected, std::string_view output) {
  std::vector<std::string> wanted = expected;
  while (!wanted.empty() && wanted.back().empty()) wanted.pop_back();
  std::vector<std::string> lines = split_lines(output);
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines_match(wanted, 0, lines, 0);
}

std::vector<std::string> run_page(const std::string& page, const std::string& root,
                                  const std::string& program) {
  std::vector<std::string> findings;
  const std::vector<ConsoleCommand> commands = console_commands(config::read_file(page));
  const Workplace place{fs::path(root)};
  const std::string setup = fmt::format("export PATH='{}':\"$PATH\" LC_ALL=C.UTF-8\n",
                                        fs::path(program).parent_path().string());
  int status = 0;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const ConsoleCommand& command = commands[i];
    const bool status_is_asked = i + 1 < commands.size() && commands[i + 1].text == "echo $?";
    const Outcome outcome = run_program(
        {"/bin/bash", "-c", fmt::format("{}exec 2>&1\n(exit {})\n{}", setup, status, command.text)},
        place.path());
    status = outcome.status;
    if (status != 0 && !status_is_asked)
      findings.push_back(fmt::format("{}:{}: $ {}\nexits {}:\n{}", page, command.line, command.text,
                                     status, outcome.out));
    else if (!matches(command.expected, outcome.out))
      findings.push_back(fmt::format("{}:{}: $ {}\nshould print\n{}\nbut prints\n{}", page,
                                     command.line, command.text, fmt::join(command.expected, "\n"),
                                     outcome.out));
  }
  return findings;
}

}  // namespace kvsim::testing
