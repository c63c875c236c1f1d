#pragma once
#include <memory>
#include <string>

#include "workload/io/lines.h"

namespace kvsim::workload {

// The items of a list in JSON, in memory of one item: either one document `[item, item, ...]` or
// one item per line. A text whose first two brackets are "[[" or "[{" is the former.
class JsonItems {
 public:
  explicit JsonItems(std::unique_ptr<Lines> lines);
  // The text of the next item and the line it starts on, false at the end. The item itself is not
  // checked beyond its brackets. Throws InputError for a list that is cut off or badly separated.
  bool next(std::string& item, int& line);
  const Lines& lines() const { return *lines_; }

 private:
  bool next_in_list(std::string& item, int& line);
  bool blank_to_token();  // to the next character that is not blank, over lines
  std::unique_ptr<Lines> lines_;
  bool is_list_ = false, opened_ = false, closed_ = false, first_ = true;
  std::string text_;  // the current line
  std::size_t at_ = 0;
};

}  // namespace kvsim::workload
