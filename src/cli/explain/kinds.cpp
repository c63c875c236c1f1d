#include "cli/explain/kinds.h"

#include "cost/operators/operator_fit.h"
#include "cost/step/host_table.h"
#include "report/conformance.h"
#include "report/json.h"
#include "report/result_fields.h"
#include "scenario/scenario.h"
#include "spec/gpu_spec.h"
#include "spec/model_spec.h"
#include "workload/generate/spec.h"

namespace kvsim::cli {
namespace {

template <class T>
void describe_default(config::FieldVisitor& visitor) {
  T value;
  fields(visitor, value);
}

void describe_result(config::FieldVisitor& visitor) {
  metrics::RunResult result;
  result.summary.percentile_levels = {50, 90, 95, 99};
  fields(visitor, result);
}

constexpr DocumentKind kinds[] = {
    {"scenario", "Scenario files", scenario::scenario_schema,
     "What `kvsim run` simulates: a model, a workload, and pools of engines on GPUs. `kvsim check "
     "--resolve FILE` shows every value and where it came from.",
     describe_default<scenario::Scenario>},
    {"result", "Result documents", report::run_schema,
     "What `kvsim run --json` prints; `report`, `compare` and `explain --request` read it. No wall "
     "time, host or path is in it: equal inputs give equal bytes.",
     describe_result, false},
    {"conformance", "Conformance documents", report::conformance_schema,
     "What `kvsim conform --json` prints: how many recorded cases of each family kvsim decides as "
     "the engine did, and the first difference. [How to check an engine's "
     "trace](../howto/check-an-engine-trace.md) has the format of the cases.",
     describe_default<report::ConformanceDocument>, false},
    {"model", "Model files", spec::model_schema,
     "A language model: dimensions, layer groups, quantization. `kvsim model import` writes one "
     "from a "
     "Hugging Face `config.json`; `models/llm/` has those of the catalog.",
     describe_default<spec::ModelSpec>},
    {"gpu", "GPU files", spec::gpu_schema,
     "One accelerator: memory, dense peak rates, links. `models/gpu/` has those of the catalog.",
     describe_default<spec::GpuSpec>},
    {"link", "Link files", spec::link_schema,
     "A link between GPUs or between a GPU and a host. `models/link/` has those of the catalog.",
     describe_default<spec::LinkSpec>},
    {"cost", "Cost files", cost::cost_schema,
     "Fitted kernel times of one GPU, framework and version: what `kvsim calibrate` writes, "
     "`validate --cost` and a models folder read. `models/cost/` has those that are shipped; [how "
     "to "
     "make one](../howto/calibrate-from-your-timings.md).",
     describe_default<cost::CostFile>},
    {"host", "Host files", cost::host_schema,
     "What serving engines add to the time of their kernels, by framework, version, GPU, precision "
     "and model: what `kvsim calibrate --host` prints. `models/host/` has those that are shipped; "
     "[where they enter a step](../explanation/step-cost.md#host-time). A scenario's `cost.host` "
     "takes the fields of one `profile`.",
     describe_default<cost::HostFile>},
    {"workload", "Workload files", workload::workload_schema,
     "Requests drawn from distributions: what `kvsim trace generate` reads. The block `generate` "
     "may "
     "stand in a scenario's `workload` as it is.",
     describe_default<workload::WorkloadFile>},
};

}  // namespace

std::span<const DocumentKind> document_kinds() { return kinds; }

}  // namespace kvsim::cli
