// Overrides: a document's values replaced by path after it was read.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "config/document.h"
#include "config/document_limits.h"
#include "units/parse.h"

namespace kvsim::config {
namespace {

// The steps of a dotted path or, when it starts with '/', of a JSON pointer.
std::vector<std::string> path_steps(std::string_view path) {
  const char separator = path.starts_with('/') ? '/' : '.';
  if (separator == '/') path.remove_prefix(1);
  std::vector<std::string> steps(1);
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == separator) {
      steps.emplace_back();
    } else if (separator == '/' && path[i] == '~' && i + 1 < path.size() &&
               (path[i + 1] == '0' || path[i + 1] == '1')) {
      steps.back() += path[++i] == '0' ? '~' : '/';
    } else {
      steps.back() += path[i];
    }
  }
  return steps;
}

}  // namespace

void Document::set(std::string_view path, std::string_view value, const std::string& origin) {
  const auto refuse = [&](const std::string& message) {
    Diagnostic d;
    d.code = "set-path", d.file = origin, d.message = message;
    throw InputError(std::move(d));
  };
  const std::vector<std::string> steps = path_steps(path);
  if (steps.size() > max_depth ||
      std::ranges::any_of(steps, [](const std::string& s) { return s.empty(); }))
    refuse(fmt::format("\"{}\" is not a field path", path));

  // What is not JSON is a string.
  std::string text(value);
  if (!nlohmann::json::accept(text)) {
    try {
      text = nlohmann::json(text).dump();
    } catch (const nlohmann::json::type_error&) {
      refuse("the value is not UTF-8 text");
    }
  }
  const std::uint32_t source = add_source(origin, std::move(text), 0);
  std::uint32_t at = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    Node& node = nodes_[at];
    if (node.kind == Kind::array) {
      const auto index = parse_integer(steps[i]);
      if (!index || *index < 0 || *index >= static_cast<std::int64_t>(node.children.size()))
        refuse(fmt::format("{} has {} elements; \"{}\" is none of them", pointer(at),
                           node.children.size(), steps[i]));
      at = node.children[static_cast<std::size_t>(*index)];
      continue;
    }
    if (node.kind != Kind::object) {
      if (node.kind != Kind::null)
        refuse(fmt::format("{} is not an object: it has no field \"{}\"",
                           at == 0 ? "the document" : pointer(at), steps[i]));
      node.kind = Kind::object;
    }
    const auto found = std::ranges::find_if(
        node.children, [&](std::uint32_t c) { return nodes_[c].key == steps[i]; });
    if (found != node.children.end()) {
      at = *found;
      continue;
    }
    const auto made = static_cast<std::uint32_t>(nodes_.size());
    Node fresh;
    fresh.key = steps[i], fresh.parent = at, fresh.source = source;
    fresh.place = static_cast<std::uint32_t>(nodes_[at].children.size());
    nodes_[at].children.push_back(made);
    nodes_.push_back(std::move(fresh));
    at = made;
  }
  nodes_[at].children.clear();
  parse_into(source, Comments::forbidden, at);
}

}  // namespace kvsim::config
