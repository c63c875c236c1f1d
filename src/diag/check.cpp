#include "diag/check.h"

namespace kvsim {

CheckContext& check_context() {
  thread_local CheckContext context;
  return context;
}

InternalError::InternalError(const char* file, int line, const char* condition,
                             std::string message) {
  std::string name = file;
  if (const auto src = name.rfind("src/"); src != std::string::npos) name.erase(0, src);
  what_ = fmt::format("internal check failed: {} ({}:{}): {}", condition, name, line, message);
  const CheckContext& at = check_context();
  if (at.time_ns >= 0)
    what_ += fmt::format(" [simulated time {} ns, step {}, request {}, seed {}]", at.time_ns,
                         at.step, at.request ? at.request : "-", at.seed);
}

}  // namespace kvsim
