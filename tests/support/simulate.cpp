#include "support/simulate.h"

namespace kvsim::testing {

scenario::Resolved resolve_text(const std::string& text, const std::string& folder,
                                const std::vector<scenario::Override>& overrides) {
  static const spec::Catalog catalog;
  return scenario::resolve(config::Document::parse(text, "scenario", config::Comments::allowed),
                           folder, catalog, overrides);
}

metrics::RunResult simulate_text(const std::string& text, const std::string& folder,
                                 const std::vector<scenario::Override>& overrides) {
  scenario::RunOptions options;
  options.keep_requests = true;
  return scenario::run(resolve_text(text, folder, overrides), options);
}

}  // namespace kvsim::testing
