#include "cost/step/host_profile.h"

namespace kvsim::cost {

void fields(config::FieldVisitor& v, HostProfile& p) {
  v.field({"decode_scale", "factor on the kernels of a step without prefill"}, p.decode_scale,
          config::between(1e-3, 1e3));
  v.field({"prefill_scale", "factor on the kernels of a step with prefill"}, p.prefill_scale,
          config::between(1e-3, 1e3));
  v.field({"step_us", "per step, beside the GPU's work"}, p.step_us, config::between(0, 1e9));
  v.field({"sequence_us", "per running sequence and step"}, p.sequence_us, config::between(0, 1e9));
  v.field({"prefill_us", "least time of the kernels of a step with prefill tokens: eager launches"},
          p.prefill_us, config::between(0, 1e9));
  v.field({"request_us", "per request, before it is queued"}, p.request_us,
          config::between(0, 1e9));
}

void fields(config::FieldVisitor& v, HostEntry& e) {
  v.field({"framework", "engine: vllm, sglang, trtllm; empty: any"}, e.framework);
  v.field({"versions", "as runs name them; none: any"}, e.versions);
  v.field({"gpu", "catalog id; empty: any"}, e.gpu);
  v.field({"precision", "of the weights: bf16, fp8, fp4, int4; empty: any"}, e.precision);
  v.field({"model", "catalog id; empty: any"}, e.model);
  v.object({"profile", "the constants"}, e.profile);
  v.field({"layers", "of the models it was fitted to, in the mean"}, e.layers, config::at_least(0));
  v.field({"rows", "runs that it was fitted to"}, e.rows, config::at_least(0));
  v.field({"source", "where the runs come from"}, e.source);
}

}  // namespace kvsim::cost
