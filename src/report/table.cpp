#include "report/table.h"

#include <algorithm>

#include "diag/check.h"

namespace kvsim::report {
namespace {

constexpr std::size_t gap = 2;

std::vector<std::string> broken(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const auto blank = text.find(' ');
    const std::string_view word = text.substr(0, blank);
    text = blank == std::string_view::npos ? std::string_view{} : text.substr(blank + 1);
    std::string& line = lines.back();
    if (!line.empty() && text_width(line) + 1 + text_width(word) > width)
      lines.emplace_back(word);
    else
      line += (line.empty() ? "" : " ") + std::string(word);
  }
  return lines;
}

}  // namespace

std::size_t text_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

void Table::row(std::vector<std::string> cells) {
  KVSIM_CHECK(cells.size() == columns_.size(), "{} cells in a table of {} columns", cells.size(),
              columns_.size());
  rows_.push_back(std::move(cells));
}

void Table::rule() { rows_.emplace_back(); }

std::string Table::text(std::size_t indent, std::size_t width) const {
  std::vector<std::size_t> widths;
  for (const Column& c : columns_) widths.push_back(text_width(c.title));
  for (const auto& cells : rows_)
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], text_width(cells[i]));
  std::size_t total = indent + gap * (columns_.size() - 1);
  for (const std::size_t w : widths) total += w;
  if (total > width) {
    std::size_t widest = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i].align == Align::left &&
          (widest == columns_.size() || widths[i] > widths[widest]))
        widest = i;
    if (widest < columns_.size()) {
      const std::size_t excess = total - width;
      widths[widest] =
          std::max<std::size_t>(widths[widest] > excess ? widths[widest] - excess : 1, 12);
      total = total - excess;
    }
  }

  std::string out;
  const auto put = [&](const std::vector<std::string>& cells) {
    std::vector<std::vector<std::string>> lines;
    std::size_t height = 1;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      lines.push_back(text_width(cells[i]) > widths[i] ? broken(cells[i], widths[i])
                                                       : std::vector<std::string>{cells[i]});
      height = std::max(height, lines.back().size());
    }
    for (std::size_t l = 0; l < height; ++l) {
      std::string line(indent, ' ');
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string cell = l < lines[i].size() ? lines[i][l] : "";
        const std::size_t used = text_width(cell);
        const std::string pad(widths[i] > used ? widths[i] - used : 0, ' ');
        line += columns_[i].align == Align::right ? pad + cell : cell + pad;
        if (i + 1 < cells.size()) line += std::string(gap, ' ');
      }
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + '\n';
    }
  };
  std::vector<std::string> titles;
  for (const Column& c : columns_) titles.push_back(c.title);
  if (std::ranges::any_of(titles, [](const std::string& t) { return !t.empty(); })) put(titles);
  for (const auto& cells : rows_) {
    if (cells.empty())
      out += std::string(indent, ' ') + std::string(std::min(total, width) - indent, '-') + '\n';
    else
      put(cells);
  }
  return out;
}

}  // namespace kvsim::report
