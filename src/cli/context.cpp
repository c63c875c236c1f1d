#include "cli/context.h"

#include <cstdio>

#include "cli/diagnose.h"

namespace kvsim::cli {

void Context::report(const std::vector<Diagnostic>& diagnostics) const {
  const std::string text = render(diagnostics, globals_, terminal_);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void Context::warn(std::string code, std::string message, std::string hint) const {
  Diagnostics list;
  list.warning(std::move(code), std::move(message), std::move(hint));
  report(list.list());
}

void Context::note(std::string message) const {
  Diagnostic d;
  d.severity = Severity::note, d.code = "note", d.message = std::move(message);
  report({d});
}

Exit Context::interrupted() const {
  warn("interrupted", "interrupted: the result covers what was done until then");
  return Exit::interrupted;
}

void Context::detail(std::string message) const {
  if (globals_.verbosity > 0) note(std::move(message));
}

}  // namespace kvsim::cli
