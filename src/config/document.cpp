#include "config/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "config/document_limits.h"
#include "diag/check.h"

namespace kvsim::config {
namespace {

constexpr std::size_t few_keys = 16;  // up to here a scan finds a repeated key faster than a hash
constexpr std::size_t longest_shown_line = 160;
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// One step of a JSON pointer, escaped as RFC 6901 says.
std::string pointer_step(std::string_view key) {
  std::string step = "/";
  for (const char c : key) step += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return step;
}

}  // namespace

// Receives nlohmann's SAX events and follows the text with a cursor of its own: between two events
// lie only blanks, commas, colons and comments, so each token's place is found without the lexer.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  // The document's root takes the place of node `target`.
  Builder(Document& document, std::uint32_t source, std::uint32_t target)
      : doc_(document), source_(source), target_(target) {
    if (doc_.sources_[source].text.starts_with(byte_order_mark)) cursor_ = byte_order_mark.size();
  }

  std::uint32_t root = 0;
  std::vector<Diagnostic> problems;

  bool null() override { return scalar(Kind::null, 4), true; }
  bool boolean(bool value) override {
    scalar(Kind::boolean, value ? 4 : 5).boolean = value;
    return true;
  }
  bool number_integer(std::int64_t value) override { return integer(value); }
  bool number_unsigned(std::uint64_t value) override {
    if (value <= static_cast<std::uint64_t>(INT64_MAX))
      return integer(static_cast<std::int64_t>(value));
    Document::Node& node = scalar(Kind::number, number_length());
    node.number = static_cast<double>(value), node.oversized = true;
    return true;
  }
  bool number_float(double value, const std::string& literal) override {
    Document::Node& node = scalar(Kind::number, number_length());
    node.number = value;
    node.oversized = literal.find_first_of(".eE") == std::string::npos;
    return true;
  }
  bool string(std::string& value) override {
    scalar(Kind::string, string_length()).text = std::move(value);
    return true;
  }
  bool binary(nlohmann::json::binary_t&) override { return false; }

  bool start_object(std::size_t) override { return open(Kind::object); }
  bool start_array(std::size_t) override { return open(Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    skip_filler();
    key_begin_ = cursor_;
    cursor_ += string_length_at(cursor_);
    key_end_ = cursor_;
    key_ = name;
    if (seen_before(name)) {
      Diagnostic d = doc_.locate(source_, key_begin_, key_end_);
      d.code = "json-duplicate-key", d.message = fmt::format("duplicate key {}", json_string(name));
      d.hint = "remove one of the two",
      d.pointer = doc_.pointer(stack_.back()) + pointer_step(name);
      problems.push_back(std::move(d));
    }
    return problems.size() < max_problems;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const std::string& text = doc_.sources_[source_].text;
    const auto at =
        static_cast<std::uint32_t>(std::min(position > 0 ? position - 1 : 0, text.size()));
    Diagnostic d = doc_.locate(source_, at, at + 1);
    std::string what =
        error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 5: ..."
    if (const auto colon = what.find(": "); colon != std::string::npos)
      what.erase(0, colon + 2);
    else if (const auto bracket = what.find("] "); bracket != std::string::npos)
      what.erase(0, bracket + 2);
    if (const auto read = what.find("; last read"); read != std::string::npos) what.erase(read);
    d.code = "json-syntax", d.message = "not valid JSON: " + what;
    problems.push_back(std::move(d));
    return false;
  }

 private:
  static constexpr std::size_t max_problems = 100;

  bool seen_before(const std::string& name) {
    const auto& children = doc_.nodes_[stack_.back()].children;
    if (children.size() < few_keys)
      return std::ranges::any_of(children,
                                 [&](std::uint32_t c) { return doc_.nodes_[c].key == name; });
    auto& keys = keys_.back();
    if (keys.empty())
      for (const std::uint32_t child : children) keys.insert(doc_.nodes_[child].key);
    return !keys.insert(name).second;
  }

  Document::Node& add(Kind kind, std::uint32_t length) {
    skip_filler();
    const auto index = static_cast<std::uint32_t>(doc_.nodes_.size());
    Document::Node& node = doc_.nodes_.emplace_back();
    node.kind = kind, node.source = source_;
    node.begin = cursor_, node.end = cursor_ += length;
    if (stack_.empty()) {
      root = index;
      if (index != target_) {
        const Document::Node& place = doc_.nodes_[target_];
        node.key = place.key, node.key_begin = place.key_begin, node.key_end = place.key_end;
        node.parent = place.parent, node.place = place.place;
      }
    } else {
      Document::Node& parent = doc_.nodes_[stack_.back()];
      node.parent = stack_.back();
      node.place = static_cast<std::uint32_t>(parent.children.size());
      if (parent.kind == Kind::object) {
        node.key = std::move(key_), node.key_begin = key_begin_, node.key_end = key_end_;
      }
      parent.children.push_back(index);
    }
    return node;
  }
  Document::Node& scalar(Kind kind, std::uint32_t length) { return add(kind, length); }
  bool integer(std::int64_t value) {
    Document::Node& node = scalar(Kind::integer, number_length());
    node.integer = value, node.number = static_cast<double>(value);
    return true;
  }
  bool open(Kind kind) {
    add(kind, 1);
    if (stack_.size() >= max_depth) {
      Diagnostic d = doc_.locate(source_, cursor_ - 1, cursor_);
      d.code = "json-depth", d.message = fmt::format("nested deeper than {} levels", max_depth);
      problems.push_back(std::move(d));
      return false;
    }
    stack_.push_back(static_cast<std::uint32_t>(doc_.nodes_.size() - 1));
    keys_.emplace_back();
    return true;
  }
  bool close() {
    skip_filler();
    doc_.nodes_[stack_.back()].end = ++cursor_;
    stack_.pop_back();
    keys_.pop_back();
    return true;
  }

  void skip_filler() {
    const std::string& text = doc_.sources_[source_].text;
    while (cursor_ < text.size()) {
      const char c = text[cursor_];
      if (c == '/' && cursor_ + 1 < text.size()) {
        const bool line = text[cursor_ + 1] == '/';
        const auto end = line ? text.find_first_of("\r\n", cursor_) : text.find("*/", cursor_ + 2);
        cursor_ = static_cast<std::uint32_t>(end == std::string::npos ? text.size()
                                                                      : end + (line ? 1 : 2));
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ':') {
        ++cursor_;
      } else {
        return;
      }
    }
  }
  std::uint32_t string_length() {
    skip_filler();
    return string_length_at(cursor_);
  }
  std::uint32_t string_length_at(std::uint32_t begin) const {
    const std::string& text = doc_.sources_[source_].text;
    std::uint32_t at = begin + 1;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    return at + 1 - begin;
  }
  std::uint32_t number_length() {
    skip_filler();
    const std::string& text = doc_.sources_[source_].text;
    std::uint32_t at = cursor_;
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) ||
                                text[at] == '-' || text[at] == '+' || text[at] == '.'))
      ++at;
    return at - cursor_;
  }

  Document& doc_;
  std::uint32_t source_, target_;
  std::uint32_t cursor_ = 0, key_begin_ = 0, key_end_ = 0;
  std::string key_;
  std::vector<std::uint32_t> stack_;
  std::vector<std::unordered_set<std::string>>
      keys_;  // of each open object, filled beyond few_keys
};

void Document::parse_into(std::uint32_t source, Comments comments, std::uint32_t target) {
  // The text must stay put while the parser reads it; nodes are added beside it.
  const std::string& text = sources_[source].text;
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    Diagnostic d = locate(source, 0, 1);
    d.code = "json-empty", d.message = "the file is empty: expected a JSON document";
    throw InputError(std::move(d));
  }
  // nlohmann takes a zero byte for the end of the text and would drop the rest.
  if (const auto zero = text.find('\0'); zero != std::string::npos) {
    const auto at = static_cast<std::uint32_t>(zero);
    Diagnostic d = locate(source, at, at + 1);
    d.code = "json-syntax", d.message = "not valid JSON: a zero byte";
    throw InputError(std::move(d));
  }
  Builder builder(*this, source, target);
  const bool complete = nlohmann::json::sax_parse(text.begin(), text.end(), &builder,
                                                  nlohmann::json::input_format_t::json, true,
                                                  comments == Comments::allowed);
  if (!builder.problems.empty()) throw InputError(std::move(builder.problems));
  KVSIM_CHECK(complete, "the parser stopped without a reason");
  if (builder.root != target) {
    for (const std::uint32_t child : nodes_[builder.root].children) nodes_[child].parent = target;
    nodes_[target] = std::exchange(nodes_[builder.root], {});
  }
}

std::uint32_t Document::add_source(std::string name, std::string text, int first_line) {
  if (text.size() >= UINT32_MAX) {
    Diagnostic d;
    d.code = "json-size", d.file = std::move(name), d.message = "a JSON document of over 4 GiB";
    throw InputError(std::move(d));
  }
  Source& source = sources_.emplace_back();
  source.name = std::move(name), source.text = std::move(text), source.first_line = first_line;
  for (auto at = source.text.find('\n'); at != std::string::npos;
       at = source.text.find('\n', at + 1))
    source.breaks.push_back(static_cast<std::uint32_t>(at));
  return static_cast<std::uint32_t>(sources_.size() - 1);
}

Document Document::parse(std::string text, std::string name, Comments comments) {
  Document document;
  document.add_source(std::move(name), std::move(text), 1);
  document.parse_into(0, comments, 0);
  return document;
}

Document Document::parse_line(std::string text, std::string name, int line) {
  Document document;
  document.add_source(std::move(name), std::move(text), line);
  document.parse_into(0, Comments::forbidden, 0);
  return document;
}

Document Document::load(const std::string& path, Comments comments) {
  return parse(read_file(path), path == "-" ? "<stdin>" : path, comments);
}

Diagnostic Document::locate(std::uint32_t source, std::uint32_t begin, std::uint32_t end) const {
  const Source& from = sources_[source];
  Diagnostic d;
  d.file = from.name;
  if (from.first_line == 0) return d;
  const std::string& text = from.text;
  begin = std::min<std::uint32_t>(begin, static_cast<std::uint32_t>(text.size()));
  const auto next_break = std::ranges::lower_bound(from.breaks, begin);
  d.line = from.first_line + static_cast<int>(next_break - from.breaks.begin());
  std::size_t start = next_break == from.breaks.begin() ? 0 : *(next_break - 1) + 1u;
  const std::size_t stop = next_break == from.breaks.end() ? text.size() : *next_break;
  if (start == 0 && text.starts_with(byte_order_mark))
    start = std::min<std::size_t>(byte_order_mark.size(), begin);
  d.column = static_cast<int>(begin - start) + 1;
  d.width = static_cast<int>(std::clamp<std::size_t>(end > begin ? end - begin : 1, 1,
                                                     std::max<std::size_t>(stop - begin, 1)));
  if (stop - start > longest_shown_line) return d;
  d.source_line = text.substr(start, stop - start);
  if (!d.source_line.empty() && d.source_line.back() == '\r') d.source_line.pop_back();
  std::ranges::replace(d.source_line, '\t', ' ');
  for (char& c : d.source_line)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  return d;
}

std::string Document::pointer(std::uint32_t index) const {
  if (index == 0) return "";
  const Node& node = nodes_[index];
  const Node& parent = nodes_[node.parent];
  return pointer(node.parent) +
         (parent.kind == Kind::array ? fmt::format("/{}", node.place) : pointer_step(node.key));
}

void Document::to_json(std::uint32_t index, std::string& out) const {
  const Node& node = nodes_[index];
  switch (node.kind) {
    case Kind::null:
      out += "null";
      break;
    case Kind::boolean:
      out += node.boolean ? "true" : "false";
      break;
    case Kind::integer:
      out += std::to_string(node.integer);
      break;
    case Kind::number:
      out += nlohmann::json(node.number).dump();
      break;
    case Kind::string:
      out += json_string(node.text);
      break;
    case Kind::array:
    case Kind::object: {
      const bool object = node.kind == Kind::object;
      out += object ? '{' : '[';
      for (std::size_t i = 0; i < node.children.size(); ++i) {
        if (i > 0) out += ',';
        if (object) out += json_string(nodes_[node.children[i]].key) + ":";
        to_json(node.children[i], out);
      }
      out += object ? '}' : ']';
      break;
    }
  }
}

}  // namespace kvsim::config
