#include "report/wrap.h"

namespace kvsim::report {

std::string wrap(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string out;
  std::size_t used = 0;
  while (!text.empty() && text.front() == ' ') {
    out += ' ', ++used;
    text.remove_prefix(1);
  }
  bool line_is_empty = true;
  std::size_t blanks = 1;  // before the next word
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) {
      ++blanks;
      continue;
    }
    if (!line_is_empty && used + blanks + word.size() > columns) {
      out += '\n';
      out.append(indent, ' ');
      used = indent;
      line_is_empty = true;
    }
    if (!line_is_empty) out.append(blanks, ' '), used += blanks;
    blanks = 1;
    out += word;
    used += word.size();
    line_is_empty = false;
  }
  return out + '\n';
}

}  // namespace kvsim::report
