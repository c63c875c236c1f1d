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
  const WorkPlan plan = plan_of(m, *found);
  if (!plan.unrepresentable.empty()) return refuse(plan.unrepresentable);
  double total = 0;
  for (Work w : plan.work) {
    if (m.buffers == cost::Buffers::cold) w.replayed = 0;
    total += seconds(w, *found);
  }
  for (Prediction& p : out) p.value = total;
  return out;
}

std::string_view condition(std::string_view kernel, cost::Buffers buffers) {
  if (buffers == cost::Buffers::cold)
    return "rotated over buffer sets that together do not fit the L2 cache: cold, as in simulation";
  if (kernel == "comm" || kernel == "moe_a2a") return "collectives repeated on idle links";
  if (kernel == "e2e_ttft" || kernel == "e2e_tpot")
    return "closed loop at the stated concurrency, ten times as many prompts, prefix caching off";
  if (kernel == "e2e_throughput")
    return "steady load, prefix caching off; MLPerf with assumed input lengths";
  if (kernel == "gemm")
    return "replayed in a CUDA graph over six weight copies: warm where six copies fit the L2 "
           "cache";
  return "the same buffers replayed in a CUDA graph: warm where they fit the L2 cache; simulation "
         "is always cold";
}

}  // namespace kvsim::calibrate
