#include "cli/diagnose.h"

#include <fmt/format.h>

#include "config/document.h"

namespace kvsim::cli {
namespace {

constexpr const char* severity_names[] = {"note", "warning", "error"};
constexpr Ink severity_inks[] = {Ink::cyan, Ink::yellow, Ink::red};

std::string text_or_null(const std::string& text) {
  return text.empty() ? "null" : config::json_string(text);
}
std::string number_or_null(int number) { return number > 0 ? std::to_string(number) : "null"; }

}  // namespace

std::string to_json_line(const Diagnostic& d) {
  return fmt::format(
      R"({{"severity":"{}","code":{},"message":{},"file":{},"line":{},"column":{},"pointer":{},"hint":{}}})",
      severity_names[static_cast<int>(d.severity)], text_or_null(d.code),
      config::json_string(d.message), text_or_null(d.file), number_or_null(d.line),
      number_or_null(d.column), text_or_null(d.pointer), text_or_null(d.hint));
}

std::string to_colored_text(const Diagnostic& d, Colored colored) {
  const std::string plain = to_text(d);
  if (colored == Colored::no) return plain;
  const Ink ink = severity_inks[static_cast<int>(d.severity)];
  const std::string word = severity_names[static_cast<int>(d.severity)] + std::string(":");
  std::string out = paint(word, ink, colored);
  std::string_view rest = std::string_view(plain).substr(word.size());
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    if (const auto caret = line.find('^');
        line.starts_with("   |      |") && caret != std::string_view::npos)
      out += std::string(line.substr(0, caret)) + paint(line.substr(caret), ink, colored);
    else if (line.starts_with("  --> "))
      out += "  " + paint("-->", Ink::cyan, colored) + std::string(line.substr(5));
    else
      out += line;
    out += '\n';
  }
  return out;
}

std::string render(std::span<const Diagnostic> diagnostics, const Globals& globals,
                   const Terminal& terminal) {
  std::string out;
  const auto show = [&](const Diagnostic& d) {
    if (globals.quiet && d.severity != Severity::error) return;
    if (globals.json)
      out += to_json_line(d) + "\n";
    else
      out += to_colored_text(d, terminal.color_err ? Colored::yes : Colored::no);
  };
  for (const Diagnostic& d : diagnostics.first(std::min(diagnostics.size(), shown_diagnostics)))
    show(d);
  if (diagnostics.size() > shown_diagnostics) {
    Diagnostic rest;
    rest.severity = Severity::note, rest.code = "more-diagnostics";
    rest.message =
        fmt::format("{} more like these are not shown", diagnostics.size() - shown_diagnostics);
    show(rest);
  }
  return out;
}

}  // namespace kvsim::cli
