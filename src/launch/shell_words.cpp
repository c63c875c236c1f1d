#include "launch/shell_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "diag/diagnostic.h"

namespace kvsim::launch {
namespace {

constexpr std::string_view blanks = " \t\r";

bool is_blank(char c) { return blanks.find(c) != std::string_view::npos; }

class Splitter {
 public:
  Splitter(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  std::vector<std::vector<Word>> commands() {
    start_of_line();
    while (at_ < text_.size()) step();
    end_command();
    return std::move(commands_);
  }

 private:
  char peek(std::size_t ahead) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  // Blanks and a prompt in front of a line.
  void start_of_line() {
    skip_blanks();
    if ((peek(0) == '$' || peek(0) == '>' || peek(0) == '%') && peek(1) == ' ') {
      at_ += 2;
      skip_blanks();
    }
    // "-q 8" on a line of its own belongs to the command above.
    if (peek(0) == '-' && words_.empty() && !commands_.empty()) {
      words_ = std::move(commands_.back());
      commands_.pop_back();
    }
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  // Whether the backslash here stands at the end of its line; blanks after it are a slip of the
  // paste. Skips to the next line.
  bool continued() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && is_blank(text_[end])) ++end;
    if (end >= text_.size()) {
      at_ = end;
      return true;
    }
    if (text_[end] != '\n') return false;
    at_ = end + 1, ++line_;
    return true;
  }

  void step() {
    const char c = text_[at_];
    if (c == '\n') {
      end_word();
      end_command();
      ++at_, ++line_;
      start_of_line();
    } else if (is_blank(c)) {
      end_word();
      ++at_;
    } else if (c == '#' && !in_word_) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\'' || c == '"') {
      quote(c);
    } else if (c == '\\') {
      backslash();
    } else if (c == '>' || c == '<') {
      redirection();
    } else if (c == ';' || c == '|' || c == '&' || c == '(' || c == ')') {
      end_word();
      end_command();
      ++at_;
    } else {
      put(c);
      ++at_;
    }
  }

  void put(char c) {
    if (!in_word_) word_ = {{}, line_, false}, in_word_ = true;
    word_.text += c;
  }

  void backslash() {
    if (continued()) {
      end_word();
      skip_blanks();
      if (peek(0) == '>' && peek(1) == ' ') at_ += 2;
      return;
    }
    put(text_[at_ + 1]);
    at_ += 2;
  }

  void quote(char mark) {
    const int first_line = line_;
    if (!in_word_) word_ = {{}, line_, true}, in_word_ = true;
    word_.quoted = true;
    for (++at_; at_ < text_.size() && text_[at_] != mark; ++at_) {
      if (mark == '"' && text_[at_] == '\\' && at_ + 1 < text_.size()) {
        const char next = text_[at_ + 1];
        if (next == '"' || next == '\\' || next == '$' || next == '`') ++at_;
        if (next == '\n') {
          ++at_, ++line_;
          continue;
        }
      }
      if (text_[at_] == '\n') ++line_;
      word_.text += text_[at_];
    }
    if (at_ >= text_.size())
      throw InputError(Diagnostic{.code = "command-syntax",
                                  .message = fmt::format("the quote {} is not closed", mark),
                                  .file = name_,
                                  .line = first_line,
                                  .column = 1,
                                  .hint = "paste the command whole"});
    ++at_;
  }

  // 2>&1, > file, <input: the descriptor before and the word after are no arguments.
  void redirection() {
    if (in_word_ && word_.text.find_first_not_of("0123456789") == std::string::npos)
      in_word_ = false;
    end_word();
    while (peek(0) == '>' || peek(0) == '<' || peek(0) == '&') ++at_;
    skip_blanks();
    while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != '\n' && text_[at_] != ';' &&
           text_[at_] != '|' && text_[at_] != '&')
      ++at_;
  }

  void end_word() {
    if (in_word_) words_.push_back(std::move(word_));
    in_word_ = false;
  }

  void end_command() {
    end_word();
    if (!words_.empty()) commands_.push_back(std::move(words_));
    words_.clear();
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool in_word_ = false;
  Word word_;
  std::vector<Word> words_;
  std::vector<std::vector<Word>> commands_;
};

}  // namespace

std::vector<std::vector<Word>> shell_commands(std::string_view text, const std::string& name) {
  return Splitter(text, name).commands();
}

}  // namespace kvsim::launch
