#include "report/junit.h"

#include <fmt/format.h>

#include "report/plot.h"

namespace kvsim::report {
namespace {

// XML 1.0 has no way to write most control characters, escaped or not.
std::string attribute(const std::string& text) {
  std::string out;
  for (const char c : html_text(text)) out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return out;
}

}  // namespace

std::string junit_xml(const std::string& suite, std::span<const JunitCase> cases) {
  std::size_t failures = 0;
  for (const JunitCase& c : cases) failures += c.failure.empty() ? 0 : 1;
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{0}\" failures=\"{1}\">\n"
      "  <testsuite name=\"{2}\" tests=\"{0}\" failures=\"{1}\">\n",
      cases.size(), failures, attribute(suite));
  for (const JunitCase& c : cases) {
    out += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", attribute(suite),
                       attribute(c.name));
    out += c.failure.empty()
               ? "/>\n"
               : fmt::format("><failure message=\"{}\"/></testcase>\n", attribute(c.failure));
  }
  return out + "  </testsuite>\n</testsuites>\n";
}

}  // namespace kvsim::report
