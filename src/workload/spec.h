#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "config/fields.h"
#include "diag/diagnostic.h"
#include "workload/generate/spec.h"
#include "workload/source.h"
#include "workload/trace/options.h"

namespace kvsim::workload {

// What to do with a request that can never be served.
enum class OnUnservable { error, reject };

// Requests left out of every statistic: the first so many, and those that arrive earlier than so
// many seconds. They are simulated all the same.
struct Warmup {
  std::int64_t requests = 0;
  Duration seconds{};
};
void fields(config::FieldVisitor& v, Warmup& warmup);

// The scenario block `workload`: exactly one of `trace` and `generate`.
struct WorkloadSpec {
  std::optional<TraceOptions> trace;
  std::optional<GenerateSpec> generate;
  std::optional<ArrivalSpec> arrival;  // instead of a trace's own times; needed where it has none
  OnUnservable on_unservable = OnUnservable::error;
  Warmup warmup;
};
void fields(config::FieldVisitor& v, WorkloadSpec& spec);

// What the fields cannot say one by one; pointers start with `pointer` ("/workload").
void check(const WorkloadSpec& spec, Diagnostics& diagnostics,
           const std::string& pointer = "/workload");

// The requests of a workload. `folder` is what file names are relative to. Throws IoError,
// InputError.
std::unique_ptr<RequestSource> make_workload(const WorkloadSpec& spec, std::uint64_t seed,
                                             const std::string& folder = {});

}  // namespace kvsim::workload
