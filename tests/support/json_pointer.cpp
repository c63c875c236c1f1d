#include "support/json_pointer.h"

#include <string>

#include "units/parse.h"

namespace kvsim::testing {
namespace {

std::string unescape(std::string_view token) {
  std::string text;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escaped = token[i] == '~' && i + 1 < token.size();
    text += escaped ? (token[++i] == '1' ? '/' : '~') : token[i];
  }
  return text;
}

}  // namespace

config::Value at_pointer(config::Value root, std::string_view pointer) {
  while (root.exists() && !pointer.empty()) {
    const std::size_t end = pointer.find('/', 1);
    const std::string token = unescape(pointer.substr(1, end == pointer.npos ? end : end - 1));
    pointer = end == pointer.npos ? std::string_view{} : pointer.substr(end);
    if (root.is_object()) {
      root = root.find(token);
    } else {
      const auto index = parse_integer(token);
      const bool inside =
          root.is_array() && index && *index >= 0 && static_cast<std::size_t>(*index) < root.size();
      root = inside ? root.at(static_cast<std::size_t>(*index)) : config::Value{};
    }
  }
  return root;
}

}  // namespace kvsim::testing
