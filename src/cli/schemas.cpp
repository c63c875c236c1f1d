#include "cli/schemas.h"

#include "calibrate/measurements/kvbench.h"
#include "cost/operators/operator_fit.h"
#include "cost/step/host_table.h"
#include "report/calibration.h"
#include "report/conformance.h"
#include "report/json.h"
#include "report/plan_json.h"
#include "report/trace_info.h"
#include "report/validation.h"
#include "scenario/scenario.h"
#include "spec/gpu_spec.h"
#include "spec/model_spec.h"
#include "workload/generate/spec.h"

namespace kvsim::cli {

std::span<const std::string_view> schema_ids() {
  static constexpr std::string_view ids[] = {
      report::calibration_schema, "kvsim.compare/1",         report::conformance_schema,
      cost::cost_schema,          spec::gpu_schema,          cost::host_schema,
      calibrate::kvbench_schema,  spec::link_schema,         spec::model_schema,
      report::plan_schema,        report::run_schema,        scenario::scenario_schema,
      report::trace_schema,       report::validation_schema, workload::workload_schema};
  return ids;
}

}  // namespace kvsim::cli
