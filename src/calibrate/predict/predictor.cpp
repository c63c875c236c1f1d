#include "calibrate/predict/predictor.h"

#include <fmt/format.h>

#include <type_traits>

#include "calibrate/predict/work.h"

namespace kvsim::calibrate {
namespace {

WorkPlan plan_of(const Measurement& m, const spec::GpuSpec& gpu) {
  return std::visit(
      [&](const auto& shape) -> WorkPlan {
        using T = std::decay_t<decltype(shape)>;
        if constexpr (std::is_same_v<T, Collective> || std::is_same_v<T, ExpertExchange>)
          return plan(shape, m, gpu);
        else if constexpr (std::is_same_v<T, Serving>)
          return {};
        else
          return plan(shape, m);
      },
      m.shape);
}

}  // namespace

std::vector<Prediction> Predictor::predict(const Measurement& m) {
  std::vector<Prediction> out(m.figures.size());
  const auto refuse = [&](const std::string& why) {
    for (Prediction& p : out) p.unrepresentable = why;
    return out;
  };
  if (!m.unmeasured.empty()) return refuse(m.unmeasured);
  const spec::GpuSpec* found = gpus_.find(m.gpu);
  if (!found) return refuse(fmt::format("GPU \"{}\" is not in the catalog", m.gpu));
  if (const auto* run = std::get_if<Serving>(&m.shape)) {
    const ServingEstimate e = serving_.estimate(*run, m.framework, *found);
    if (!e.unrepresentable.empty()) return refuse(e.unrepresentable);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::string& kernel = m.figures[i].kernel;
      if (kernel == "e2e_ttft" && e.waits_for_kv)
        out[i].unrepresentable = "requests wait for KV";
      else
        out[i].value = kernel == "e2e_ttft"   ? e.ttft
                       : kernel == "e2e_tpot" ? e.tpot
                                              : e.tokens_per_second_gpu;
    }
    return out;
  }
  const WorkPlan plan = plan_of(m, *found);
  if (!plan.unrepresentable.empty()) return refuse(plan.unrepresentable);
  double total = 0;
  for (const Work& w : plan.work) total += seconds(w, *found);
  for (Prediction& p : out) p.value = total;
  return out;
}

std::string_view condition(std::string_view kernel) {
  if (kernel == "comm" || kernel == "moe_a2a") return "collectives repeated on idle links";
  if (kernel == "e2e_ttft" || kernel == "e2e_tpot")
    return "closed loop at the stated concurrency, prefix caching off, no host time";
  if (kernel == "e2e_throughput") return "steady load, prefix caching off, no host time";
  if (kernel == "gemm")
    return "replayed in a CUDA graph over six weight copies: warm where six copies fit the L2 "
           "cache";
  return "the same buffers replayed in a CUDA graph: warm where they fit the L2 cache; simulation "
         "is always cold";
}

}  // namespace kvsim::calibrate
