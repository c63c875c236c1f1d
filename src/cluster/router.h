#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "engine/engine.h"
#include "workload/request.h"

namespace kvsim::cluster {

// What a router may know of an engine, or of all data parallel ranks of a replica together (counts
// added up, KV usage in the mean).
struct EngineLoad {
  std::int64_t requests = 0;            // waiting and running
  std::int64_t outstanding_tokens = 0;  // prompt tokens of those requests
  engine::EngineReport report;          // as old as the router's interval allows
};

// Chooses the engine of each arriving request.
//
// Contract: called once per request, in order of arrival, with the loads of that moment; answers an
// index into `loads`, which is never empty. Draws no random numbers of its own.
class Router {
 public:
  virtual ~Router() = default;
  virtual std::size_t choose(const workload::RequestSpec& request,
                             std::span<const EngineLoad> loads) = 0;
  // How often the reports in `loads` are renewed; 0: this router does not read them.
  virtual Duration report_interval() const { return {}; }
};

struct RouterEntry {
  std::string_view name, summary;
  std::unique_ptr<Router> (*make)();
};
std::span<const RouterEntry> routers();
const RouterEntry* find_router(std::string_view name);

}  // namespace kvsim::cluster
