#pragma once
#include <stdexcept>
#include <string>

namespace kvsim::kernels::bench {

struct WriteError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws where write_output to that path is bound to fail, and leaves nothing behind.
void expect_writable(const std::string& path);

// The text to a file beside `path` that then takes its name: readers see all of it or what was
// there before. "" is stdout.
void write_output(const std::string& path, const std::string& text);

}  // namespace kvsim::kernels::bench
