#include "diag/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kvsim {

InputError::InputError(Diagnostic diagnostic)
    : InputError(std::vector<Diagnostic>{std::move(diagnostic)}) {}

InputError::InputError(std::vector<Diagnostic> diagnostics) : diagnostics_(std::move(diagnostics)) {
  for (const Diagnostic& d : diagnostics_) what_ += to_text(d);
}

IoError::IoError(std::string path, std::string reason)
    : path_(std::move(path)), what_(fmt::format("{}: {}", path_, reason)) {}

void Diagnostics::add(Diagnostic diagnostic) {
  if (list_.size() < kept) return list_.push_back(std::move(diagnostic));
  ++dropped_;
  dropped_error_ |= diagnostic.severity == Severity::error;
}

void Diagnostics::error(std::string code, std::string message, std::string hint) {
  Diagnostic d;
  d.code = std::move(code), d.message = std::move(message), d.hint = std::move(hint);
  add(std::move(d));
}

void Diagnostics::warning(std::string code, std::string message, std::string hint) {
  Diagnostic d;
  d.severity = Severity::warning;
  d.code = std::move(code), d.message = std::move(message), d.hint = std::move(hint);
  add(std::move(d));
}

bool Diagnostics::has_errors() const {
  return dropped_error_ || std::ranges::any_of(list_, [](const Diagnostic& d) {
           return d.severity == Severity::error;
         });
}

void Diagnostics::throw_if_errors() const {
  if (!has_errors()) return;
  std::vector<Diagnostic> all = list_;
  if (dropped_ > 0) {
    Diagnostic more;
    more.severity = Severity::note, more.code = "more-diagnostics",
    more.message = fmt::format("{} more problems", dropped_);
    all.push_back(std::move(more));
  }
  throw InputError(std::move(all));
}

std::string to_text(const Diagnostic& d) {
  constexpr const char* names[] = {"note", "warning", "error"};
  std::string out = fmt::format("{}: {}\n", names[static_cast<int>(d.severity)], d.message);
  if (!d.file.empty()) {
    out += "  --> " + d.file;
    if (d.line > 0) out += fmt::format(":{}:{}", d.line, d.column);
    if (!d.pointer.empty()) out += "   " + d.pointer;
    out += '\n';
  } else if (!d.pointer.empty()) {
    out += fmt::format("  --> {}\n", d.pointer);
  }
  if (d.line > 0 && !d.source_line.empty() && d.source_line.size() <= 160) {
    out += fmt::format("   | {:>4} | {}\n", d.line, d.source_line);
    std::string carets(static_cast<std::size_t>(std::max(d.width, 1)), '^');
    out += fmt::format("   |      | {}{}{}\n",
                       std::string(static_cast<std::size_t>(std::max(d.column - 1, 0)), ' '),
                       carets, d.hint.empty() ? "" : " " + d.hint);
  } else if (!d.hint.empty()) {
    out += fmt::format("   {}\n", d.hint);
  }
  return out;
}

}  // namespace kvsim
