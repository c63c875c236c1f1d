#include "cli/result_style.h"

#include <cstdlib>
#include <string_view>

namespace kvsim::cli {
namespace {

// The first of these that is set decides, as in setlocale(3).
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view text(value);
    return text.find("UTF-8") != text.npos || text.find("utf8") != text.npos ||
           text.find("UTF8") != text.npos;
  }
  return false;
}

}  // namespace

report::Style result_style(std::string scenario) {
  report::Style style;
  style.scenario = std::move(scenario);
  style.glyphs = locale_is_utf8() ? report::Glyphs::unicode : report::Glyphs::ascii;
  return style;
}

}  // namespace kvsim::cli
