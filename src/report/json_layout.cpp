#include "report/json_layout.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace kvsim::report {
namespace {

using Json = nlohmann::ordered_json;

std::string compact(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool flat(const Json& value) {
  return !value.is_structured() ||
         (value.is_array() && std::none_of(value.begin(), value.end(),
                                           [](const Json& x) { return x.is_structured(); }));
}

void write(const Json& value, std::size_t depth, std::string& out) {
  if (value.empty() || flat(value)) {
    out += compact(value);
    return;
  }
  const std::string indent(2 * (depth + 1), ' ');
  const bool object = value.is_object();
  out += object ? "{\n" : "[\n";
  bool first = true;
  for (const auto& item : value.items()) {
    if (!first) out += ",\n";
    first = false;
    out += indent;
    if (object) out += compact(Json(item.key())) + ": ";
    write(item.value(), depth + 1, out);
  }
  out += '\n';
  out.append(2 * depth, ' ');
  out += object ? '}' : ']';
}

}  // namespace

std::string layout(std::string_view json) {
  std::string out;
  write(Json::parse(json), 0, out);
  out += '\n';
  return out;
}

}  // namespace kvsim::report
