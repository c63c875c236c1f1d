#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace kvsim::report {

// `text` in lines of at most `columns` characters, broken at blanks; lines after the first are
// indented by `indent`. A longer word has a line of its own. Ends in a newline.
std::string wrap(std::string_view text, std::size_t columns, std::size_t indent);

}  // namespace kvsim::report
