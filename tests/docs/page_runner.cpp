#include <cstdio>
#include <exception>
#include <stdexcept>

#include "docs/console.h"
#include "support/process.h"

// page_runner PAGE.md: runs the console blocks of one page.
int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::runtime_error("usage: page_runner PAGE.md");
    const auto findings =
        kvsim::testing::run_page(argv[1], KVSIM_SOURCE_DIR, kvsim::testing::kvsim_path());
    for (const std::string& finding : findings) std::fprintf(stderr, "%s\n", finding.c_str());
    return findings.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
