#include <string>

#include "conform/conformance.h"
#include "diag/check.h"
#include "fuzz/targets.h"

namespace kvsim::fuzz {

void conform(std::string_view text) {
  static const spec::Catalog catalog;
  conform::ConformOptions options;
  options.shown = 100;
  const conform::Conformance c =
      conform::conform_text(std::string(text), "input.jsonl", catalog, options);
  KVSIM_CHECK(c.complete && c.matched() <= c.cases(), "more cases match than there are");
  KVSIM_CHECK(c.differences.empty() == (c.matched() == c.cases()), "a difference is not told");
}

}  // namespace kvsim::fuzz
