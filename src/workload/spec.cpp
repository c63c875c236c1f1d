#include "workload/spec.h"

#include <string_view>

#include "workload/trace/format.h"

namespace kvsim::workload {

void fields(config::FieldVisitor& v, Warmup& w) {
  using namespace config;
  v.field({"requests", "the first so many requests are left out of every statistic"}, w.requests,
          at_least(0));
  v.field({"seconds", "requests that arrive earlier are left out of every statistic"}, w.seconds,
          between(0, 1e9));
}

void fields(config::FieldVisitor& v, WorkloadSpec& spec) {
  static constexpr std::string_view unservable[] = {"error", "reject"};
  v.object({"trace", "requests from a file"}, spec.trace);
  v.choice(
      {"on_unservable",
       "a request that can never be served: error = simulate nothing, reject = count it as failed"},
      spec.on_unservable, unservable);
  v.object({"warmup", "requests left out of the statistics"}, spec.warmup);
}

void check(const WorkloadSpec& spec, Diagnostics& diagnostics, const std::string& pointer) {
  if (spec.trace) return;
  Diagnostic d;
  d.code = "workload-missing", d.message = "a workload needs \"trace\"", d.pointer = pointer;
  diagnostics.add(std::move(d));
}

std::unique_ptr<RequestSource> make_workload(const WorkloadSpec& spec, std::uint64_t,
                                             const std::string& folder) {
  Diagnostics diagnostics;
  check(spec, diagnostics);
  diagnostics.throw_if_errors();
  return open_trace(*spec.trace, folder);
}

}  // namespace kvsim::workload
