#include <algorithm>
#include <charconv>
#include <cmath>

#include "calibrate/predict/floors.h"
#include "calibrate/predict/work.h"

// Collectives: the bytes a rank has to send over its slowest link, plus a floor.
namespace kvsim::calibrate {
namespace {

constexpr std::int64_t node_gpus = 8;

double inside_node(const spec::GpuSpec& gpu) {
  return gpu.link_bandwidth.value() > 0 ? gpu.link_bandwidth.value() : gpu.pcie_bandwidth.value();
}

// vidur's implementations end in the number of GPUs that they used per node.
std::int64_t gpus_per_node(const std::string& impl) {
  const std::size_t at = impl.find_last_not_of("0123456789");
  std::int64_t n = 0;
  if (!impl.starts_with("torch_nccl_devpernode") ||
      std::from_chars(impl.data() + at + 1, impl.data() + impl.size(), n).ec != std::errc{})
    return node_gpus;
  return n;
}

}  // namespace

WorkPlan plan(const Collective& s, const Measurement& m, const spec::GpuSpec& gpu) {
  const double n = static_cast<double>(s.num_gpus), bytes = static_cast<double>(s.bytes);
  double sent = 0;
  if (s.op == "all_reduce")
    sent = 2 * (n - 1) / n * bytes;
  else if (s.op == "all_gather" || s.op == "reduce_scatter" || s.op == "alltoall")
    sent = (n - 1) / n * bytes;
  else if (s.op == "send_recv")
    sent = bytes;
  else
    return {{}, "collective \"" + s.op + "\" has no formula"};
  double rate = inside_node(gpu);
  Work w;
  w.floor = s.impl.starts_with("nccl") || s.impl.starts_with("torch_nccl") ? nccl_floor
                                                                           : graph_reduce_floor;
  if (s.impl.ends_with("_eager")) w.floor += eager_launch;
  if (m.gpu == "a100_pairwise" && s.num_gpus > 2) rate = gpu.pcie_bandwidth.value();
  if (s.num_gpus > gpus_per_node(s.impl)) rate = gpu.nic_bandwidth.value(), w.floor += node_hop;
  if (rate <= 0) return {{}, "the GPU's data sheet states no link"};
  w.link_seconds = sent / rate;
  return {{w}, {}};
}

WorkPlan plan(const ExpertExchange& s, const Measurement&, const spec::GpuSpec& gpu) {
  const bool dispatch = s.op.ends_with("_dispatch"), combine = s.op.ends_with("_combine");
  const bool low_latency = s.op.starts_with("deepep_ll_"),
             normal = s.op.starts_with("deepep_normal_");
  if (!(dispatch || combine) || !(low_latency || normal))
    return {{}, "exchange \"" + s.op + "\" has no formula"};
  const double nodes = static_cast<double>(s.nodes), ranks = nodes * static_cast<double>(node_gpus);
  const double topk = static_cast<double>(s.topk);
  // Dispatch sends fp8 with its scales, combine bf16. Normal mode sends a token once to each rank
  // (and once to each node) that holds one of its experts; low latency sends it once per expert.
  const double token = static_cast<double>(s.tokens) * static_cast<double>(s.hidden) *
                       (dispatch ? 1 + 4.0 / 128 : 2);
  const double to_ranks = low_latency ? topk : ranks * (1 - std::pow(1 - 1 / ranks, topk));
  const double to_nodes =
      low_latency ? topk * (nodes - 1) / nodes : (nodes - 1) * (1 - std::pow(1 - 1 / nodes, topk));
  Work w;
  w.floor = low_latency ? exchange_low_latency_floor : exchange_normal_floor;
  if (s.nodes > 1) w.floor += node_hop;
  if (gpu.link_bandwidth.value() <= 0 || (s.nodes > 1 && gpu.nic_bandwidth.value() <= 0))
    return {{}, "the GPU's data sheet states no link"};
  w.link_seconds = token * to_ranks / gpu.link_bandwidth.value();
  if (s.nodes > 1)
    w.link_seconds = std::max(w.link_seconds, token * to_nodes / gpu.nic_bandwidth.value());
  return {{w}, {}};
}

}  // namespace kvsim::calibrate
