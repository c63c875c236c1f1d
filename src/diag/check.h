#pragma once
#include <fmt/core.h>

#include <exception>
#include <string>
#include <utility>

namespace kvsim {

// A broken promise inside kvsim, never the user's fault: exit code 70. On in release builds.
class InternalError : public std::exception {
 public:
  InternalError(const char* file, int line, const char* condition, std::string message);
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

// Where the simulation stands, so that a failed check says how to get there again. Set by the
// run loop; thread-local because sweeps run one simulation per thread.
struct CheckContext {
  long long time_ns = -1;
  long long step = -1;
  const char* request = nullptr;
  unsigned long long seed = 0;
};
CheckContext& check_context();

}  // namespace kvsim

#define KVSIM_CHECK(condition, ...)                                                             \
  do {                                                                                          \
    if (!(condition)) [[unlikely]]                                                              \
      throw ::kvsim::InternalError(__FILE__, __LINE__, #condition, ::fmt::format(__VA_ARGS__)); \
  } while (false)
