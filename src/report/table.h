#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace kvsim::report {

enum class Align { left, right };

// A text table: plain ASCII rules, two blanks between columns, no trailing blanks. Cells are
// counted in code points. When the table would be wider than `width`, the widest left-aligned
// column is broken at blanks onto further lines.
//
//   Table t({{"context", Align::right}, {"requests", Align::right}});
//   t.row({"8,192", "109"});
//   out += t.text();
class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void row(std::vector<std::string> cells);
  void rule();  // a line of dashes before the next row
  bool empty() const { return rows_.empty(); }
  // Each line starts with `indent` blanks and ends in a newline. Titles that are all empty are left
  // out.
  std::string text(std::size_t indent = 0, std::size_t width = 100) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;  // an empty row is a rule
};

// Code points of UTF-8 text.
std::size_t text_width(std::string_view text);

}  // namespace kvsim::report
