#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace kvsim::cli {
namespace {

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value && *value != '\0';
}

bool wants_color(std::string_view choice, bool is_terminal) {
  if (choice == "always") return true;
  if (choice == "never" || is_set("NO_COLOR")) return false;
  if (is_set("CLICOLOR_FORCE") && std::string_view(std::getenv("CLICOLOR_FORCE")) != "0")
    return true;
  const char* kind = std::getenv("TERM");
  return is_terminal && kind && std::string_view(kind) != "dumb";
}

}  // namespace

Terminal find_terminal(const Globals& g) {
  Terminal t;
  t.stdout_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  t.stderr_is_terminal = ::isatty(STDERR_FILENO) == 1;
  const bool to_file = !g.output.empty() && g.output != "-";
  t.color_out = !g.json && wants_color(g.color, t.stdout_is_terminal && !to_file);
  t.color_err = !g.json && wants_color(g.color, t.stderr_is_terminal);
  winsize size{};
  if (t.stderr_is_terminal && ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    t.columns = size.ws_col;
  return t;
}

std::string paint(std::string_view text, Ink ink, Colored colored) {
  if (colored == Colored::no || ink == Ink::plain) return std::string(text);
  constexpr const char* codes[] = {"0", "1", "1;31", "1;33", "32", "36"};
  return "\033[" + std::string(codes[static_cast<int>(ink)]) + "m" + std::string(text) + "\033[0m";
}

}  // namespace kvsim::cli
