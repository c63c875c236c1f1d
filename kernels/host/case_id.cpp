#include "kernels/host/problem.h"

namespace kvsim::kernels {

std::string case_id(const CaseInfo& info, std::string_view variant) {
  std::string id = info.kernel;
  const auto part = [&id](std::string_view text) {
    if (!text.empty()) id.append("/").append(text);
  };
  part(variant);
  part(info.kv_dtype);
  for (const auto& [name, value] : info.shape) {
    if (const auto* number = std::get_if<std::int64_t>(&value))
      part(name + std::to_string(*number));
    else
      part(std::get<std::string>(value));
  }
  return id;
}

}  // namespace kvsim::kernels
