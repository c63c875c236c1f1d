#include "workload/spec.h"

#include <fmt/format.h>

#include <string_view>

#include "workload/retimed.h"
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
  v.object({"generate", "requests drawn from distributions"}, spec.generate);
  v.object({"arrival", "arrivals instead of the trace's own; a trace without times needs it"},
           spec.arrival);
  v.choice(
      {"on_unservable",
       "a request that can never be served: error = simulate nothing, reject = count it as failed"},
      spec.on_unservable, unservable);
  v.object({"warmup", "requests left out of the statistics"}, spec.warmup);
}

void check(const WorkloadSpec& spec, Diagnostics& diagnostics, const std::string& pointer) {
  const auto add = [&](const std::string& where, std::string message) {
    Diagnostic d;
    d.code = "workload-source", d.message = std::move(message), d.pointer = pointer + where;
    diagnostics.add(std::move(d));
  };
  if (!spec.trace && !spec.generate) add("", "a workload needs \"trace\" or \"generate\"");
  if (spec.trace && spec.generate)
    add("/generate", "a workload has \"trace\" or \"generate\", not both");
  if (spec.generate) check(*spec.generate, diagnostics, pointer + "/generate");
  if (spec.arrival) {
    if (spec.generate)
      add("/arrival", "arrival replaces the times of a trace: put it inside \"generate\"");
    check(*spec.arrival, diagnostics, pointer + "/arrival");
  }
}

std::unique_ptr<RequestSource> make_workload(const WorkloadSpec& spec, std::uint64_t seed,
                                             const std::string& folder) {
  Diagnostics diagnostics;
  check(spec, diagnostics);
  diagnostics.throw_if_errors();
  if (spec.generate) return generate(*spec.generate, seed, folder);
  Trace trace = load_trace(*spec.trace, folder);
  if (spec.arrival) return retimed(std::move(trace.source), *spec.arrival, seed);
  if (!trace.has_times) {
    Diagnostic d;
    d.code = "trace-no-times", d.pointer = "/workload/arrival";
    d.message = fmt::format("{}: the trace has lengths but no times", spec.trace->file);
    d.hint = "say when its requests arrive: \"arrival\": {\"process\": \"poisson\", \"rate\": 2}";
    throw InputError(std::move(d));
  }
  return std::move(trace.source);
}

}  // namespace kvsim::workload
