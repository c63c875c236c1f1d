#include "cli/explain/kinds.h"

#include "report/json.h"
#include "report/result_fields.h"
#include "spec/gpu_spec.h"
#include "spec/model_spec.h"

namespace kvsim::cli {
namespace {

template <class T>
void describe_default(config::FieldVisitor& visitor) {
  T value;
  fields(visitor, value);
}

constexpr DocumentKind kinds[] = {
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
    {"run", "Results", report::run_schema,
     "What `kvsim run --json` prints. `compare`, `report` and `explain --request` read it.",
     describe_default<metrics::RunResult>, false},
};

}  // namespace

std::span<const DocumentKind> document_kinds() { return kinds; }

}  // namespace kvsim::cli
