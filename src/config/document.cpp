#include "config/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "diag/check.h"
#include "units/parse.h"

namespace kvsim::config {
namespace {

constexpr std::size_t max_depth = 100;

struct Stop {};  // leaves the parser from inside a callback

}  // namespace

// Receives nlohmann's SAX events and follows the text with a cursor of its own: between two events
// lie only blanks, commas, colons and comments, so each token's place is found without the lexer.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(Document& document, std::uint32_t source) : doc_(document), source_(source) {}

  std::uint32_t root = 0;
  std::vector<Diagnostic> problems;

  bool null() override { return scalar(Kind::null, 4), true; }
  bool boolean(bool value) override {
    scalar(Kind::boolean, value ? 4 : 5).boolean = value;
    return true;
  }
  bool number_integer(std::int64_t value) override { return integer(value); }
  bool number_unsigned(std::uint64_t value) override {
    if (value <= static_cast<std::uint64_t>(INT64_MAX)) return integer(static_cast<std::int64_t>(value));
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
    for (const std::uint32_t child : doc_.nodes_[stack_.back()].children)
      if (doc_.nodes_[child].key == name) {
        Diagnostic d = doc_.locate(source_, key_begin_, key_end_);
        d.code = "json-duplicate-key", d.message = fmt::format("duplicate key {}", json_string(name));
        d.hint = "remove one of the two", d.pointer = doc_.pointer(child);
        problems.push_back(std::move(d));
      }
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    const std::string& text = doc_.sources_[source_].text;
    const auto at = static_cast<std::uint32_t>(std::min(position > 0 ? position - 1 : 0, text.size()));
    Diagnostic d = doc_.locate(source_, at, at + 1);
    std::string what = error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 5: ..."
    if (const auto colon = what.find(": "); colon != std::string::npos) what.erase(0, colon + 2);
    else if (const auto bracket = what.find("] "); bracket != std::string::npos) what.erase(0, bracket + 2);
    if (const auto read = what.find("; last read"); read != std::string::npos) what.erase(read);
    d.code = "json-syntax", d.message = "not valid JSON: " + what;
    problems.push_back(std::move(d));
    return false;
  }

 private:
  Document::Node& add(Kind kind, std::uint32_t length) {
    skip_filler();
    const auto index = static_cast<std::uint32_t>(doc_.nodes_.size());
    Document::Node& node = doc_.nodes_.emplace_back();
    node.kind = kind, node.source = source_;
    node.begin = cursor_, node.end = cursor_ += length;
    if (stack_.empty()) {
      root = index;
    } else {
      Document::Node& parent = doc_.nodes_[stack_.back()];
      node.parent = stack_.back();
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
    return true;
  }
  bool close() {
    skip_filler();
    doc_.nodes_[stack_.back()].end = ++cursor_;
    stack_.pop_back();
    return true;
  }

  void skip_filler() {
    const std::string& text = doc_.sources_[source_].text;
    while (cursor_ < text.size()) {
      const char c = text[cursor_];
      if (c == '/' && cursor_ + 1 < text.size()) {
        const bool line = text[cursor_ + 1] == '/';
        const auto end = line ? text.find('\n', cursor_) : text.find("*/", cursor_ + 2);
        cursor_ = static_cast<std::uint32_t>(end == std::string::npos ? text.size() : end + (line ? 1 : 2));
      } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ':' ||
                 static_cast<unsigned char>(c) >= 0xEF) {  // a byte order mark counts as blank
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
    while (at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '-' ||
                                text[at] == '+' || text[at] == '.'))
      ++at;
    return at - cursor_;
  }

  Document& doc_;
  std::uint32_t source_;
  std::uint32_t cursor_ = 0, key_begin_ = 0, key_end_ = 0;
  std::string key_;
  std::vector<std::uint32_t> stack_;
};

void Document::parse_into(std::uint32_t source, Comments comments, std::uint32_t target) {
  // The text must stay put while the parser reads it; nodes are added beside it.
  const std::string& text = sources_[source].text;
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    Diagnostic d = locate(source, 0, 1);
    d.code = "json-empty", d.message = "the file is empty: expected a JSON document";
    throw InputError(std::move(d));
  }
  if (text.size() >= UINT32_MAX) {
    Diagnostic d = locate(source, 0, 1);
    d.code = "json-size", d.message = "a JSON document of over 4 GiB";
    throw InputError(std::move(d));
  }
  Builder builder(*this, source);
  const bool complete = nlohmann::json::sax_parse(text.begin(), text.end(), &builder,
                                                  nlohmann::json::input_format_t::json, true,
                                                  comments == Comments::allowed);
  if (!builder.problems.empty()) throw InputError(std::move(builder.problems));
  KVSIM_CHECK(complete, "the parser stopped without a reason");
  if (builder.root != target) {
    Node& place = nodes_[target];
    Node& made = nodes_[builder.root];
    made.key = std::move(place.key), made.key_begin = place.key_begin, made.key_end = place.key_end;
    made.parent = place.parent;
    for (const std::uint32_t child : made.children) nodes_[child].parent = target;
    Node moved = std::move(made);
    nodes_[target] = std::move(moved);
  }
}

Document Document::parse(std::string text, std::string name, Comments comments) {
  Document document;
  document.sources_.push_back({std::move(name), std::move(text), 1});
  document.parse_into(0, comments, 0);
  return document;
}

Document Document::parse_line(std::string text, std::string name, int line) {
  Document document;
  document.sources_.push_back({std::move(name), std::move(text), line});
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
  begin = std::min<std::uint32_t>(begin, static_cast<std::uint32_t>(from.text.size()));
  const auto before = std::string_view(from.text).substr(0, begin);
  d.line = from.first_line + static_cast<int>(std::ranges::count(before, '\n'));
  const auto start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  d.column = static_cast<int>(begin - start) + 1;
  auto stop = from.text.find('\n', start);
  if (stop == std::string::npos) stop = from.text.size();
  d.source_line = from.text.substr(start, stop - start);
  std::ranges::replace(d.source_line, '\t', ' ');
  if (!d.source_line.empty() && d.source_line.back() == '\r') d.source_line.pop_back();
  for (char& c : d.source_line)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
  d.width = static_cast<int>(std::clamp<std::size_t>(end > begin ? end - begin : 1, 1, std::max<std::size_t>(stop - begin, 1)));
  return d;
}

std::string Document::pointer(std::uint32_t index) const {
  if (index == 0) return "";
  const Node& node = nodes_[index];
  const Node& parent = nodes_[node.parent];
  std::string step;
  if (parent.kind == Kind::array) {
    step = std::to_string(std::ranges::find(parent.children, index) - parent.children.begin());
  } else {
    for (const char c : node.key) step += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return pointer(node.parent) + "/" + step;
}

void Document::set(std::string_view path, std::string_view value, const std::string& origin) {
  const auto refuse = [&](const std::string& message) {
    Diagnostic d;
    d.code = "set-path", d.file = origin, d.message = message;
    throw InputError(std::move(d));
  };
  std::vector<std::string> steps;
  std::string step;
  for (const char c : path.starts_with('/') ? path.substr(1) : path) {
    if (c == '.' || (c == '/' && path.starts_with('/'))) steps.push_back(std::exchange(step, {}));
    else step += c;
  }
  steps.push_back(step);
  if (std::ranges::any_of(steps, [](const std::string& s) { return s.empty(); }))
    refuse(fmt::format("\"{}\" is not a field path", path));

  const auto source = static_cast<std::uint32_t>(sources_.size());
  sources_.push_back({origin, std::string(value), 0});
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Node& node = nodes_[at];
    if (node.kind == Kind::array) {
      const auto index = parse_integer(steps[i]);
      if (!index || *index < 0 || *index >= static_cast<std::int64_t>(node.children.size()))
        refuse(fmt::format("{} has {} elements; \"{}\" is none of them", pointer(at), node.children.size(), steps[i]));
      at = node.children[static_cast<std::size_t>(*index)];
      continue;
    }
    if (node.kind != Kind::object) {
      if (node.source != source && i > 0 && node.kind != Kind::null)
        refuse(fmt::format("{} is not an object: it has no field \"{}\"", pointer(at), steps[i]));
      node.kind = Kind::object;
    }
    const auto found = std::ranges::find_if(node.children, [&](std::uint32_t c) { return nodes_[c].key == steps[i]; });
    if (found != node.children.end()) {
      at = *found;
      continue;
    }
    const auto made = static_cast<std::uint32_t>(nodes_.size());
    nodes_[at].children.push_back(made);
    Node fresh;
    fresh.key = steps[i], fresh.parent = at, fresh.source = source;
    nodes_.push_back(std::move(fresh));
    at = made;
  }
  // A key that the override itself makes is blamed on it, not on the file.
  const bool is_json = nlohmann::json::accept(value);
  if (!is_json) sources_[source].text = nlohmann::json(std::string(value)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  nodes_[at].children.clear();
  parse_into(source, Comments::forbidden, at);
}

void Document::to_json(std::uint32_t index, std::string& out) const {
  const Node& node = nodes_[index];
  switch (node.kind) {
    case Kind::null: out += "null"; break;
    case Kind::boolean: out += node.boolean ? "true" : "false"; break;
    case Kind::integer: out += std::to_string(node.integer); break;
    case Kind::number: out += nlohmann::json(node.number).dump(); break;
    case Kind::string: out += json_string(node.text); break;
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
