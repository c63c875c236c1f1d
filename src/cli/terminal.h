#pragma once
#include <string>
#include <string_view>

#include "cli/globals.h"

namespace kvsim::cli {

enum class Ink { plain, bold, red, yellow, green, cyan };

// What the two streams can show, found out once. Results under --json and into files are never
// coloured unless --color always asks for it.
struct Terminal {
  bool stdout_is_terminal = false;
  bool stderr_is_terminal = false;
  bool color_out = false;
  bool color_err = false;
  int columns = 100;  // of stderr's terminal; 100 when it is none
};

// --color over NO_COLOR over CLICOLOR_FORCE over what the streams are.
Terminal find_terminal(const Globals& globals);

// `text` in that ink, or as it is when `color` is false.
enum class Colored { no, yes };
std::string paint(std::string_view text, Ink ink, Colored colored);

}  // namespace kvsim::cli
