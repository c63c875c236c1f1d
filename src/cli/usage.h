#pragma once
#include <exception>
#include <string>
#include <utility>

#include "diag/diagnostic.h"

namespace kvsim::cli {

// A command line that cannot be understood (exit 2). The message names the flag or the word.
class UsageError : public std::exception {
 public:
  explicit UsageError(std::string message, std::string hint = {}, std::string code = "usage") {
    diagnostic_.code = std::move(code);
    diagnostic_.message = std::move(message);
    diagnostic_.hint = std::move(hint);
  }
  const Diagnostic& diagnostic() const { return diagnostic_; }
  const char* what() const noexcept override { return diagnostic_.message.c_str(); }

 private:
  Diagnostic diagnostic_;
};

}  // namespace kvsim::cli
