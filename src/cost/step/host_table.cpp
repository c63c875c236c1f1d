#include "cost/step/host_table.h"

#include <algorithm>

#include "config/document.h"
#include "config/reader.h"
#include "spec/embedded.h"

namespace kvsim::cost {
namespace {

// Points of agreement, or nothing where the entry names something else.
std::optional<int> agreement(const HostEntry& e, const HostQuery& q) {
  int points = 0;
  for (const auto& [named, asked] : {std::pair(std::string_view(e.framework), q.framework),
                                     std::pair(std::string_view(e.gpu), q.gpu),
                                     std::pair(std::string_view(e.precision), q.precision),
                                     std::pair(std::string_view(e.model), q.model)}) {
    if (named.empty()) continue;
    if (named != asked) return std::nullopt;
    points += 2;
  }
  // Versions between the published ones have no entry of their own: another one's is the nearest.
  if (std::ranges::find(e.versions, q.version) != e.versions.end()) ++points;
  return points;
}

}  // namespace

void fields(config::FieldVisitor& v, HostFile& f) {
  v.field({"id", "name of the file in the catalog", "", true}, f.id);
  v.field({"sources", "where the figures come from"}, f.sources);
  v.list({"entries", "host constants by deployment", "", true}, f.entries);
}

const HostEntry* find_host(const std::vector<HostEntry>& entries, const HostQuery& query) {
  const HostEntry* best = nullptr;
  int most = -1;
  for (const HostEntry& e : entries) {
    const std::optional<int> points = agreement(e, query);
    // Of equal ones that with more runs behind it.
    if (!points || *points < most || (*points == most && e.rows <= best->rows)) continue;
    best = &e, most = *points;
  }
  return best;
}

const std::vector<HostEntry>& known_hosts() {
  static const std::vector<HostEntry> all = [] {
    std::vector<HostEntry> out;
    for (const spec::EmbeddedFile& file : spec::embedded_files()) {
      if (!file.path.starts_with("models/host/")) continue;
      const auto document = config::Document::parse(std::string(file.text), std::string(file.path),
                                                    config::Comments::allowed);
      HostFile read;
      Diagnostics diagnostics;
      config::read(document.root(), read, diagnostics, host_schema);
      diagnostics.throw_if_errors();
      std::ranges::move(read.entries, std::back_inserter(out));
    }
    return out;
  }();
  return all;
}

std::string_view precision_of(const spec::ModelSpec& model) {
  const spec::Quantization& q = model.quantization;
  if (q.method == "none") return "bf16";
  if (q.method == "nvfp4" || q.method == "mxfp4") return "fp4";
  return q.bits <= 4.9 ? "int4" : "fp8";
}

}  // namespace kvsim::cost
