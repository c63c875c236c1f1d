#include <string>

#include "config/document.h"
#include "diag/check.h"
#include "diag/diagnostic.h"
#include "fuzz/targets.h"
#include "scenario/load.h"

namespace kvsim::fuzz {

// A scenario is read and resolved, never run: how long a run takes is the scenario's own choice.
void scenario(std::string_view text) {
  static const spec::Catalog catalog;
  try {
    const auto resolved = scenario::resolve(
        config::Document::parse(std::string(text), "input", config::Comments::allowed),
        "no/such/folder", catalog);
    config::Document::parse(resolved.echo_json(), "echo");
  } catch (const IoError&) {
    // It names a file, and there is none in that folder.
  }
}

}  // namespace kvsim::fuzz
