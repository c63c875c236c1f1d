#include "workload/io/items.h"

#include <algorithm>
#include <utility>

namespace kvsim::workload {
namespace {

constexpr std::string_view blanks = " \t\r\n";

}  // namespace

JsonItems::JsonItems(std::unique_ptr<Lines> lines) : lines_(std::move(lines)) {
  const std::string_view head = lines_->head();
  const auto open = head.find_first_not_of(blanks);
  if (open == std::string_view::npos || head[open] != '[') return;
  const auto second = head.find_first_not_of(blanks, open + 1);
  is_list_ = second != std::string_view::npos &&
             (head[second] == '[' || head[second] == '{' || head[second] == ']');
}

bool JsonItems::next(std::string& item, int& line) {
  if (is_list_) return next_in_list(item, line);
  std::string_view text;
  do {
    if (!lines_->next(text)) return false;
  } while (text.find_first_not_of(blanks) == std::string_view::npos);
  item.assign(text);
  line = lines_->number();
  return true;
}

bool JsonItems::blank_to_token() {
  for (;;) {
    at_ = text_.find_first_not_of(blanks, at_);
    if (at_ != std::string::npos) return true;
    std::string_view text;
    if (!lines_->next(text)) return false;
    text_.assign(text), at_ = 0;
  }
}

bool JsonItems::next_in_list(std::string& item, int& line) {
  const auto fail = [&](const char* message) {
    throw InputError(
        lines_->at("json-syntax", message, {}, static_cast<int>(std::min(at_, text_.size())) + 1));
  };
  if (closed_) return false;
  if (!blank_to_token()) fail("the list is not closed: expected ']'");
  if (!opened_) opened_ = true, ++at_;
  if (!blank_to_token()) fail("the list is not closed: expected ']'");
  if (text_[at_] == ']') {
    ++at_;
    if (blank_to_token()) fail("something stands after the end of the list");
    closed_ = true;
    return false;
  }
  if (!std::exchange(first_, false)) {
    if (text_[at_] != ',') fail("expected ',' or ']' between items");
    ++at_;
    if (!blank_to_token()) fail("the list is not closed: expected ']'");
  }
  item.clear();
  line = lines_->number();
  // Up to the comma or bracket that ends the item; line ends inside it are kept.
  int depth = 0;
  bool quoted = false;
  for (;;) {
    if (at_ == text_.size()) {
      std::string_view more;
      if (!lines_->next(more)) fail("the list is not closed: expected ']'");
      text_.assign(more), at_ = 0;
      item += '\n';
      continue;
    }
    const char c = text_[at_];
    if (quoted) {
      if (c == '\\' && at_ + 1 < text_.size())
        item += c, ++at_;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if ((c == ',' || c == ']') && depth == 0) {
      return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
    item += text_[at_++];
    if (item.size() > (64U << 20)) fail("an item of over 64 MiB");
  }
}

}  // namespace kvsim::workload
