#include <cstdio>
#include <exception>
#include <filesystem>

#include "cases/case_check.h"
#include "config/document.h"

// case_runner FILE: exit 0 when every command of the case does what the case says.
int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: case_runner FILE.case\n", stderr), 2;
  try {
    const std::filesystem::path path(argv[1]);
    const auto test =
        kvsim::testing::parse_case(kvsim::config::read_file(path), path.filename().string());
    const auto findings = kvsim::testing::run_case(test, path.parent_path().string());
    for (const std::string& finding : findings) std::printf("%s\n", finding.c_str());
    std::printf("%s: %zu findings\n", test.title.c_str(), findings.size());
    return findings.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
