#include <fmt/format.h>

#include "config/document.h"
#include "diag/check.h"

namespace kvsim::config {

Kind Value::kind() const { return document_->nodes_[node_].kind; }

bool Value::boolean() const { return document_->nodes_[node_].boolean; }
std::int64_t Value::integer() const { return document_->nodes_[node_].integer; }
double Value::number() const { return document_->nodes_[node_].number; }
const std::string& Value::string() const { return document_->nodes_[node_].text; }
bool Value::is_oversized_integer() const { return document_->nodes_[node_].oversized; }

std::size_t Value::size() const { return document_->nodes_[node_].children.size(); }
Value Value::at(std::size_t i) const {
  return Value(document_, document_->nodes_[node_].children[i]);
}
const std::string& Value::key(std::size_t i) const {
  return document_->nodes_[document_->nodes_[node_].children[i]].key;
}

Value Value::find(std::string_view name) const {
  for (const std::uint32_t child : document_->nodes_[node_].children)
    if (document_->nodes_[child].key == name) return Value(document_, child);
  return {};
}

Diagnostic Value::diagnostic(std::string code, std::string message, std::string hint) const {
  const auto& node = document_->nodes_[node_];
  Diagnostic d = document_->locate(node.source, node.begin, node.end);
  d.code = std::move(code), d.message = std::move(message), d.hint = std::move(hint),
  d.pointer = pointer();
  return d;
}

Diagnostic Value::key_diagnostic(std::string code, std::string message, std::string hint) const {
  const auto& node = document_->nodes_[node_];
  const bool has_key = node.key_end > node.key_begin;
  Diagnostic d = document_->locate(node.source, has_key ? node.key_begin : node.begin,
                                   has_key ? node.key_end : node.end);
  d.code = std::move(code), d.message = std::move(message), d.hint = std::move(hint),
  d.pointer = pointer();
  return d;
}

std::string Value::pointer() const { return document_->pointer(node_); }

std::string Value::origin() const {
  const auto& node = document_->nodes_[node_];
  const Diagnostic d = document_->locate(node.source, node.begin, node.end);
  return d.line > 0 ? fmt::format("{}:{}:{}", d.file, d.line, d.column) : d.file;
}

std::string Value::json() const {
  std::string out;
  document_->to_json(node_, out);
  return out;
}

std::string Value::describe() const {
  switch (kind()) {
    case Kind::array:
      return "a list";
    case Kind::object:
      return "an object";
    case Kind::string:
      return string().size() <= 40 ? json_string(string()) : "a long string";
    default:
      return json();
  }
}

}  // namespace kvsim::config
