#include <fmt/format.h>

#include "cli/explain/kinds.h"
#include "cli/explain/topic.h"

namespace kvsim::cli {

void add_field_topics(std::vector<Topic>& out) {
  for (const DocumentKind& kind : document_kinds()) {
    if (!kind.fields_are_topics) continue;
    config::SchemaWriter writer;
    kind.describe(writer.visitor());
    for (const config::FieldRow& row : writer.rows())
      out.push_back({std::string(kind.word) + " field", row.name, row.doc,
                     fmt::format("type: {}\ndefault: {}", row.type,
                                 row.fallback.empty() ? "none" : row.fallback)});
  }
}

}  // namespace kvsim::cli
