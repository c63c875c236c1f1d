#pragma once
#include <span>
#include <string>

namespace kvsim::report {

// One test case of a JUnit document.
struct JunitCase {
  std::string name;
  std::string failure;  // empty: passed
};

// A JUnit XML document with one suite, as continuous integration systems read it. Without times:
// equal cases give equal bytes.
std::string junit_xml(const std::string& suite, std::span<const JunitCase> cases);

}  // namespace kvsim::report
