#include "cli/schemas.h"

#include "report/json.h"
#include "report/plan_json.h"
#include "spec/gpu_spec.h"
#include "spec/model_spec.h"

namespace kvsim::cli {

std::span<const std::string_view> schema_ids() {
  static constexpr std::string_view ids[] = {"kvsim.compare/1",   spec::gpu_schema,
                                             spec::link_schema,   spec::model_schema,
                                             report::plan_schema, report::run_schema};
  return ids;
}

}  // namespace kvsim::cli
