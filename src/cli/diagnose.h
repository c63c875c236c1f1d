#pragma once
#include <span>
#include <string>

#include "cli/terminal.h"
#include "diag/diagnostic.h"

namespace kvsim::cli {

inline constexpr std::size_t shown_diagnostics = 20;

// {"severity":"error","code":...,"message":...,"file":...,"line":...,"column":...,"pointer":...,"hint":...}
// with null for what is not known; one line, no newline.
std::string to_json_line(const Diagnostic& diagnostic);

// The text of diag's to_text with the severity, the place and the caret coloured.
std::string to_colored_text(const Diagnostic& diagnostic, Colored colored);

// The first shown_diagnostics of them and a count of the rest, as text or JSON lines.
std::string render(std::span<const Diagnostic> diagnostics, const Globals& globals,
                   const Terminal& terminal);

}  // namespace kvsim::cli
