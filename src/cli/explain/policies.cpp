#include <fmt/format.h>

#include "cli/explain/topic.h"
#include "cluster/router.h"
#include "conform/operations.h"
#include "engine/registry.h"
#include "report/exporter.h"
#include "workload/generate/kinds.h"
#include "workload/trace/format.h"
#include "workload/trace/writer.h"

namespace kvsim::cli {
namespace {

template <class Entries>
void add_all(std::vector<Topic>& out, std::string_view kind, const Entries& entries) {
  for (const auto& entry : entries)
    out.push_back({std::string(kind), std::string(entry.name), std::string(entry.summary), {}});
}

}  // namespace

void add_policy_topics(std::vector<Topic>& out) {
  for (const engine::ProfileEntry& p : engine::profiles())
    out.push_back({"engine profile", std::string(p.name), std::string(p.summary),
                   fmt::format("read from: {}", p.version)});
  add_all(out, "router policy", cluster::routers());
  add_all(out, "trace format", workload::trace_formats());
  add_all(out, "written trace format", workload::trace_writers());
  out.push_back({"recorded format", "steps", "a whole run of an engine, step by step", {}});
  add_all(out, "recorded format", conform::operation_families());
  add_all(out, "request kind", workload::request_kinds());
  add_all(out, "report format", report::exporters());
}

}  // namespace kvsim::cli
